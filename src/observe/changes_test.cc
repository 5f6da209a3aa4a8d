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
#include "observe/observe.h"
#include "observe/observe_fixture.h"
#include "observe/partitioning.h"
#include "ports/memory_file_io.h"

namespace firn::observe {
namespace {

using fixture::Deletes;
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

/// A table that grows snapshot by snapshot: 1, 2, 3... each with the manifests of the one before, and new ones.
class History {
 public:
  explicit History(int version = 2) : version_(version) {}

  void Begin() { ++last_; }
  std::int64_t last() const { return last_; }

  void AddManifest(const std::vector<ManifestEntry>& entries, ManifestContent content = ManifestContent::kData) {
    iceberg::ManifestWriterOptions options;
    options.content = content;
    options.snapshot_id = SnapshotId(last_);
    auto written = iceberg::fixture::Write(Metadata(), entries, options);
    written.line.manifest_path = "s3://b/t/m" + std::to_string(manifests_++) + ".avro";
    written.line.sequence_number = SequenceNumber(version_ == 1 ? 0 : last_);
    io_->Put(written.line.manifest_path, std::move(written.bytes));
    lines_.push_back(std::move(written.line));
  }

  void Commit(const std::string& operation, const std::string& summary = "") { CommitOn(parent_, operation, summary); }

  void CommitOn(std::optional<std::int64_t> parent, const std::string& operation, const std::string& summary = "") {
    MemorySink list(ListOf(last_));
    (void)Must(iceberg::WriteManifestList(list, Metadata(), SnapshotId(last_), std::nullopt,
                                          SequenceNumber(version_ == 1 ? 0 : last_), 0, "deflate", lines_));
    io_->Put(ListOf(last_), std::move(list.bytes()));
    AddSnapshot(parent, operation, summary, R"("manifest-list":")" + ListOf(last_) + '"');
  }

  void CommitInline(const std::string& operation) {
    std::string text;
    for (const ManifestFile& line : lines_) text += (text.empty() ? "\"" : ",\"") + line.manifest_path + '"';
    AddSnapshot(parent_, operation, "", R"("manifests":[)" + text + ']');
  }

  std::vector<ManifestFile>& lines() { return lines_; }
  ports::MemoryFileIO& io() { return *io_; }
  std::map<std::int64_t, std::string>& snapshots() { return snapshots_; }
  void set_head(std::int64_t id) { head_ = id; }
  void set_refs(std::string refs) { refs_ = std::move(refs); }
  static std::string ListOf(std::int64_t id) { return "s3://b/t/snap-" + std::to_string(id) + ".avro"; }

  iceberg::TableMetadata Metadata() const {
    std::string text = iceberg::fixture::PlainTable(version_).ToJsonText();
    if (head_ == 0) return Must(iceberg::TableMetadata::Parse(AsBytes(text)));
    text.pop_back();
    std::string list;
    for (const auto& [id, snapshot] : snapshots_) list += (list.empty() ? "" : ",") + snapshot;
    const std::string number = R"("last-sequence-number":9)";
    if (const auto at = text.find(number); at != std::string::npos) {
      text.replace(at, number.size(), R"("last-sequence-number":1000)");
    }
    text += R"(,"current-snapshot-id":)" + std::to_string(head_) + R"(,"snapshots":[)" + list + "]" + refs_ + "}";
    return Must(iceberg::TableMetadata::Parse(AsBytes(text)));
  }

  Result<ChangeSet> Read(ChangesOptions options) {
    ports::LoadedTable table;
    table.id = {{"db"}, "t"};
    table.metadata = std::make_shared<const iceberg::TableMetadata>(Metadata());
    return ReadChanges(table, *io_, options);
  }
  Result<ChangeSet> Since(std::int64_t id) { return Read({.since = SnapshotId(id)}); }

 private:
  void AddSnapshot(std::optional<std::int64_t> parent, const std::string& operation, const std::string& summary,
                   const std::string& manifests) {
    std::string text = R"({"snapshot-id":)" + std::to_string(last_) + R"(,"timestamp-ms":)" +
                       std::to_string(1602638573590 + last_ * 1000) + R"(,"summary":{"operation":")" + operation + '"' +
                       summary + "}";
    if (parent) text += R"(,"parent-snapshot-id":)" + std::to_string(*parent);
    if (version_ >= 2) text += R"(,"sequence-number":)" + std::to_string(last_);
    snapshots_[last_] = text + ',' + manifests + '}';
    parent_ = head_ = last_;
  }

  int version_;
  std::unique_ptr<ports::MemoryFileIO> io_ = std::make_unique<ports::MemoryFileIO>();
  std::int64_t last_ = 0, head_ = 0;
  std::optional<std::int64_t> parent_;
  int manifests_ = 0;
  std::vector<ManifestFile> lines_;
  std::map<std::int64_t, std::string> snapshots_;
  std::string refs_;
};

iceberg::DataFile Sized(const std::string& path, std::int32_t day, std::int64_t bytes) {
  iceberg::DataFile file = PlainFile(path, day);
  file.file_size_bytes = bytes;
  return file;
}

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
