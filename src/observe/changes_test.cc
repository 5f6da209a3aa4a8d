// SPDX-License-Identifier: Apache-2.0
#include "observe/changes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include "iceberg/manifest_fixture.h"
#include "iceberg/manifest_writer.h"
#include "observe/change_json.h"
#include "observe/facts.h"
#include "observe/growing_table_fixture.h"
#include "observe/observe.h"
#include "observe/observe_fixture.h"
#include "observe/partitioning.h"
#include "ports/memory_file_io.h"

namespace firn::observe {
namespace {

using fixture::Deletes;
using fixture::Sized;
using iceberg::EntryStatus;
using iceberg::FileContent;
using iceberg::ManifestContent;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;
using iceberg::fixture::Added;
using iceberg::fixture::Carried;
using iceberg::fixture::Must;
using iceberg::fixture::PlainFile;
using ::testing::HasSubstr;
using History = fixture::GrowingTable;

/// Snapshot 1: a, b. 2: c; firn's own. 3: merges the manifests, a goes, d comes, and a delete file.
History ThreeSnapshots() {
  History history;
  history.Begin();
  history.AddManifest({Added(Sized("a", 19000, 100)), Added(Sized("b", 19001, 200))});
  history.Commit("append");
  history.Begin();
  history.AddManifest({Added(Sized("c", 19000, 300))});
  history.Commit("replace", R"(,"firn.plan-id":"p7")");
  history.Begin();
  history.lines().clear();
  history.AddManifest({Added(Sized("d", 19001, 400)), Carried(EntryStatus::kDeleted, Sized("a", 19000, 100), 3, 1),
                       Carried(EntryStatus::kExisting, Sized("b", 19001, 200), 1, 1),
                       Carried(EntryStatus::kExisting, Sized("c", 19000, 300), 2, 2)});
  history.AddManifest({Added(Deletes(FileContent::kPositionDeletes, "p", 19001)),
                       Added(Deletes(FileContent::kEqualityDeletes, "e", 19001))},
                      ManifestContent::kDeletes);
  history.Commit("overwrite");
  return history;
}

TEST(ReadChanges, EachSnapshot_GivesItsOwnEntriesAlone) {
  History history = ThreeSnapshots();
  const auto set = history.Read({});
  ASSERT_TRUE(set.has_value()) << ToString(set.error());
  ASSERT_TRUE(set->is_complete) << set->reason;
  EXPECT_EQ(set->head, SnapshotId(3));
  EXPECT_NE(set->partitioning, 0u);
  ASSERT_EQ(set->changes.size(), 3u);

  const Change& first = set->changes[0];
  EXPECT_EQ(first.parent_id, std::nullopt);
  EXPECT_FALSE(first.is_own);
  ASSERT_EQ(first.partitions.size(), 2u);
  EXPECT_EQ(first.partitions[0].text, "day=2022-01-08/name=x");
  EXPECT_EQ(first.partitions[0].added, std::vector<ChangedFile>({{100, 10, 0}}));
  EXPECT_EQ(first.partitions[1].added, std::vector<ChangedFile>({{200, 10, 0}}));

  const Change& second = set->changes[1];
  EXPECT_EQ(second.parent_id, SnapshotId(1));
  EXPECT_TRUE(second.is_own);
  EXPECT_EQ(second.plan_id, "p7");
  ASSERT_EQ(second.partitions.size(), 1u);
  EXPECT_EQ(second.partitions[0].added, std::vector<ChangedFile>({{300, 10, 0}}));

  const Change& third = set->changes[2];
  EXPECT_EQ(third.operation, "overwrite");
  EXPECT_EQ(third.sequence_number, SequenceNumber(3));
  EXPECT_EQ(third.timestamp.value, 1602638576590);
  ASSERT_EQ(third.partitions.size(), 2u);
  EXPECT_EQ(third.partitions[0].text, "day=2022-01-09/name=x");
  EXPECT_EQ(third.partitions[0].added, std::vector<ChangedFile>({{400, 10, 0}}));
  EXPECT_EQ(third.partitions[0].added_deletes,
            (ChangedDeletes{.position_files = 1, .equality_files = 1, .vectors = 0, .rows = 10}));
  EXPECT_EQ(third.partitions[1].removed, std::vector<ChangedFile>({{100, 10, 0}}));
  EXPECT_TRUE(third.partitions[1].added.empty());
}

TEST(ReadChanges, Since_ReadsOnlyWhatIsNewer) {
  History history = ThreeSnapshots();
  const auto set = history.Since(2);
  ASSERT_TRUE(set.has_value() && set->is_complete);
  ASSERT_EQ(set->changes.size(), 1u);
  EXPECT_EQ(set->changes[0].snapshot_id, SnapshotId(3));
  EXPECT_EQ(set->manifests_read, 2);
  EXPECT_EQ(set->entries_read, 6);
  const auto none = history.Since(3);
  ASSERT_TRUE(none.has_value() && none->is_complete);
  EXPECT_TRUE(none->changes.empty());
  EXPECT_EQ(none->manifests_read, 0);
}

TEST(ReadChanges, OwnFlags_AreThoseOfTheEntry) {
  History history(3);
  history.Begin();
  iceberg::DataFile avro = Sized("a", 19000, 5), secret = Sized("s", 19000, 6);
  avro.format = iceberg::FileFormat::kAvro;
  avro.format_text = "AVRO";
  secret.key_metadata = Bytes{1};
  history.AddManifest({Added(avro), Added(secret)});
  history.lines().back().first_row_id = 0;
  history.Commit("append", "");
  history.snapshots()[1].insert(1, R"("first-row-id":0,"added-rows":0,)");
  const auto set = history.Read({});
  ASSERT_TRUE(set.has_value()) << ToString(set.error());
  ASSERT_TRUE(set->is_complete) << set->reason;
  EXPECT_EQ(set->changes[0].partitions[0].added,
            std::vector<ChangedFile>({{5, 10, kNotParquet | kHasRowLineage}, {6, 10, kEncrypted | kHasRowLineage}}));
}

TEST(ReadChanges, InlineManifests_AreComparedWithThoseBefore) {
  History history(1);
  history.Begin();
  history.AddManifest({Added(Sized("a", 19000, 100))});
  history.CommitInline("append");
  history.Begin();
  history.AddManifest({Added(Sized("b", 19000, 200))});
  history.CommitInline("append");
  const auto set = history.Since(1);
  ASSERT_TRUE(set.has_value()) << ToString(set.error());
  ASSERT_TRUE(set->is_complete) << set->reason;
  EXPECT_EQ(set->manifests_read, 1);
  ASSERT_EQ(set->changes.size(), 1u);
  EXPECT_EQ(set->changes[0].partitions[0].added, std::vector<ChangedFile>({{200, 10, 0}}));
  const auto all = history.Read({});
  ASSERT_TRUE(all.has_value() && all->is_complete);
  EXPECT_EQ(all->changes.size(), 2u);
  EXPECT_EQ(all->manifests_read, 2);
}

TEST(ReadChanges, HistoryThatDoesNotReachBack_IsNotComplete) {
  struct Case {
    std::function<void(History&)> spoil;
    std::int64_t since;
    std::string reason;
  };
  const std::vector<Case> cases = {
      {[](History& h) {
         h.snapshots().erase(1);
         h.snapshots().erase(2);
       },
       1, "history expired"},
      {[](History& h) { h.set_head(2); }, 3, "rolled back or replaced: snapshot 3"},
      {[](History& h) { h.set_head(0); }, 3, "an empty table"},
      {[](History& h) {
         h.Begin();
         h.CommitOn(1, "append");
       },
       3, "rolled back or replaced: snapshot 3"},
      {[](History& h) {
         h.Begin();
         h.CommitOn(std::nullopt, "append");
         h.snapshots().erase(3);
       },
       3, "rolled back or replaced: snapshot 3 is not known"},
  };
  for (const Case& c : cases) {
    History history = ThreeSnapshots();
    c.spoil(history);
    const auto set = history.Since(c.since);
    ASSERT_TRUE(set.has_value()) << ToString(set.error());
    EXPECT_FALSE(set->is_complete) << c.reason;
    EXPECT_THAT(set->reason, HasSubstr(c.reason));
    EXPECT_TRUE(set->changes.empty());
  }
}

TEST(ReadChanges, ExpiredSnapshotThatIsStillReached_IsEnough) {
  History history = ThreeSnapshots();
  history.snapshots().erase(1);
  const auto set = history.Since(1);
  ASSERT_TRUE(set.has_value());
  EXPECT_TRUE(set->is_complete) << set->reason;
  EXPECT_EQ(set->changes.size(), 2u);
}

TEST(ReadChanges, OtherTable_IsNotComplete) {
  History history = ThreeSnapshots();
  const auto set = history.Read({.since = SnapshotId(2), .table_uuid = "0b0b0b0b-41fe-4693-9a96-a0705ddf69c1"});
  ASSERT_TRUE(set.has_value());
  EXPECT_FALSE(set->is_complete);
  EXPECT_THAT(set->reason, HasSubstr("another table"));
  EXPECT_TRUE(history.Read({.since = SnapshotId(2), .table_uuid = set->table_uuid})->is_complete);
}

TEST(ReadChanges, Limits_EndInAReason) {
  History history = ThreeSnapshots();
  const auto snapshots = history.Read({.snapshots_max = 2});
  ASSERT_TRUE(snapshots.has_value());
  EXPECT_THAT(snapshots->reason, HasSubstr("too many changes: 3 snapshots"));
  const auto entries = history.Read({.entries_max = 8});
  ASSERT_TRUE(entries.has_value());
  EXPECT_FALSE(entries->is_complete);
  EXPECT_THAT(entries->reason, HasSubstr("too many changes: more than 8"));
  EXPECT_TRUE(entries->changes.empty());
  EXPECT_TRUE(history.Read({.snapshots_max = 3, .entries_max = 9})->is_complete);
}

TEST(ReadChanges, BrokenManifests_AreAReason_AnUnknownBranchAnError) {
  History history = ThreeSnapshots();
  history.io().Put("s3://b/t/m1.avro", Bytes{1, 2, 3});
  const auto set = history.Since(1);
  ASSERT_TRUE(set.has_value()) << ToString(set.error());
  EXPECT_FALSE(set->is_complete);
  EXPECT_THAT(set->reason, HasSubstr("snapshot 2: s3://b/t/m1.avro"));
  EXPECT_TRUE(history.Since(2)->is_complete);  // which does not need it
  ASSERT_TRUE(history.io().Delete(History::ListOf(3)).has_value());
  EXPECT_THAT(history.Since(2)->reason, HasSubstr("snapshot 3: "));
  const auto missing = history.Read({.ref = "dev"});
  ASSERT_FALSE(missing.has_value());
  EXPECT_EQ(missing.error().code, Code::kNotFound);
}

TEST(ReadChanges, Branch_HasItsOwnHead) {
  History history = ThreeSnapshots();
  history.set_refs(R"(,"refs":{"main":{"snapshot-id":3,"type":"branch"},"dev":{"snapshot-id":2,"type":"branch"}})");
  const auto set = history.Read({.ref = "dev", .since = SnapshotId(1)});
  ASSERT_TRUE(set.has_value() && set->is_complete);
  ASSERT_EQ(set->changes.size(), 1u);
  EXPECT_EQ(set->changes[0].snapshot_id, SnapshotId(2));
  EXPECT_EQ(set->ref, "dev");
}

TEST(ReadChanges, FilesThatVanishWithoutAnEntry_AreNoticed) {
  History history = ThreeSnapshots();
  history.Begin();
  history.lines().erase(history.lines().begin());  // three live files go with their manifest
  history.AddManifest({Added(Sized("z", 19000, 1))});
  history.Commit("overwrite");
  const auto set = history.Since(3);
  ASSERT_TRUE(set.has_value());
  EXPECT_FALSE(set->is_complete);
  EXPECT_THAT(set->reason, HasSubstr("its data manifests hold 1 files, but 3 before and +1 by its entries"));
}

TEST(ReadChanges, ChangesAddUpToTheTable) {
  History history = ThreeSnapshots();
  const ChangeSet set = Must(history.Read({}));
  std::map<std::string, std::int64_t> files, bytes;
  for (const Change& change : set.changes) {
    for (const PartitionDelta& delta : change.partitions) {
      for (const ChangedFile& file : delta.added) ++files[delta.text], bytes[delta.text] += file.size_bytes;
      for (const ChangedFile& file : delta.removed) --files[delta.text], bytes[delta.text] -= file.size_bytes;
    }
  }
  ports::LoadedTable table;
  table.id = {{"db"}, "t"};
  table.metadata = std::make_shared<const iceberg::TableMetadata>(history.Metadata());
  const Facts facts = Must(Observe(table, history.io(), {}, {}));
  EXPECT_EQ(facts.partitioning, set.partitioning);
  ASSERT_EQ(facts.partitions.size(), files.size());
  for (const PartitionFacts& partition : facts.partitions) {
    EXPECT_EQ(partition.file_count, files[partition.text]);
    EXPECT_EQ(partition.size_bytes, bytes[partition.text]);
  }
}

TEST(ChangeJson, NamesAndLimits) {
  History history = ThreeSnapshots();
  const ChangeSet set = Must(history.Read({}));
  const json::Value value = ToJson(set, 2, 1);
  EXPECT_EQ(value.Find("changes_left_off")->AsInt64(), 1);
  EXPECT_TRUE(value.Find("since")->is_null());
  const json::Value& own = value.Find("changes")->elements().at(0);
  EXPECT_EQ(*own.Find("plan_id")->AsString(), "p7");
  const json::Value& last = value.Find("changes")->elements().at(1);
  EXPECT_EQ(last.Find("partitions_left_off")->AsInt64(), 1);
  const json::Value& delta = last.Find("partitions")->elements().at(0);
  EXPECT_EQ(delta.Find("added")->Find("size_bytes")->AsInt64(), 400);
  EXPECT_EQ(delta.Find("added_deletes")->Find("equality_files")->AsInt64(), 1);
}

TEST(PartitioningOf, ChangesWithSpecsAndTypesAlone) {
  const auto table = [](int version, const std::string& id_type, const std::string& more_fields,
                        const std::string& more_specs) {
    return iceberg::fixture::Table(version,
                                   R"({"id":1,"name":"id","required":true,"type":")" + id_type + "\"}" + more_fields,
                                   R"([{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"id",)"
                                   R"("transform":"identity"}]})" +
                                       more_specs + "]");
  };
  const std::uint64_t base = PartitioningOf(table(2, "int", "", ""));
  EXPECT_EQ(base, PartitioningOf(table(2, "int", R"(,{"id":2,"name":"b","required":false,"type":"date"})", "")));
  EXPECT_NE(base, PartitioningOf(table(2, "long", "", "")));
  EXPECT_NE(base, PartitioningOf(table(2, "int", "", R"(,{"spec-id":1,"fields":[]})")));
  EXPECT_NE(base, PartitioningOf(table(3, "int", "", "")));
}

}  // namespace
}  // namespace firn::observe
