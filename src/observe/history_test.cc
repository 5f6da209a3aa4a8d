// SPDX-License-Identifier: Apache-2.0
#include "observe/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "observe/growing_table_fixture.h"
#include "ports/hooked_file_io.h"

namespace firn::observe {
namespace {

using fixture::GrowingTable;
using fixture::Sized;
using iceberg::fixture::Added;
using iceberg::fixture::Must;
using ::testing::HasSubstr;

/// Snapshots 1, 2, ...: each appends a file; with its number of hundred bytes.
GrowingTable Appends(int count, int version = 2) {
  GrowingTable table(version);
  for (int i = 1; i <= count; ++i) {
    table.Begin();
    table.AddManifest({Added(Sized("f" + std::to_string(i), 19000, 100 * i))});
    table.Commit("append");
  }
  return table;
}

Result<History> Read(GrowingTable& table, const HistoryOptions& options = {}) {
  return ReadHistory(table.Loaded(), table.io(), options);
}

TEST(History, StartsAtTheFirstSnapshot) {
  GrowingTable table = Appends(4);
  const History history = Must(Read(table));
  EXPECT_EQ(history.start.snapshot_id, SnapshotId(1));
  ASSERT_EQ(history.start.files.size(), 1U);
  EXPECT_EQ(history.start.files[0].size_bytes, 100);
  EXPECT_EQ(history.started_at, table.Metadata().FindSnapshot(SnapshotId(1))->timestamp);
  EXPECT_THAT(history.start_reason, HasSubstr("it is the table's first"));
  ASSERT_EQ(history.changes.changes.size(), 3U);
  EXPECT_EQ(history.changes.changes[0].snapshot_id, SnapshotId(2));
  EXPECT_EQ(history.changes.changes[2].partitions[0].added[0].size_bytes, 400);
}

TEST(History, ExpiredSnapshotsAreSaid) {
  GrowingTable table = Appends(5);
  table.snapshots().erase(1);
  table.snapshots().erase(2);
  const History history = Must(Read(table));
  EXPECT_EQ(history.start.snapshot_id, SnapshotId(3));
  EXPECT_EQ(history.start.files.size(), 3U);
  EXPECT_EQ(history.start_reason, "those before it have expired");
  EXPECT_EQ(history.changes.changes.size(), 2U);
}

TEST(History, StartsAfterAManifestListThatIsMissing) {
  GrowingTable table = Appends(5);
  ASSERT_TRUE(table.io().Delete(GrowingTable::ListOf(3)).has_value());
  const History history = Must(Read(table));
  EXPECT_EQ(history.start.snapshot_id, SnapshotId(4));
  EXPECT_EQ(history.start.files.size(), 4U);
  ASSERT_EQ(history.changes.changes.size(), 1U);
  EXPECT_EQ(history.changes.changes[0].snapshot_id, SnapshotId(5));
  EXPECT_THAT(history.start_reason, HasSubstr("snapshot 3: "));
  EXPECT_THAT(history.start_reason, HasSubstr(GrowingTable::ListOf(3)));
}

TEST(History, TheFirstSnapshotsListMayBeMissing) {
  GrowingTable table = Appends(4);
  ASSERT_TRUE(table.io().Delete(GrowingTable::ListOf(1)).has_value());
  const History history = Must(Read(table));
  EXPECT_EQ(history.start.snapshot_id, SnapshotId(2));
  EXPECT_EQ(history.changes.since, SnapshotId(2));
  ASSERT_EQ(history.changes.changes.size(), 2U);
  EXPECT_EQ(history.changes.changes[0].snapshot_id, SnapshotId(3));
}

TEST(History, AMissingManifestOfAllSnapshotsIsAnError) {
  GrowingTable table = Appends(3);
  ASSERT_TRUE(table.io().Delete("s3://b/t/m0.avro").has_value());
  const auto history = Read(table);
  ASSERT_FALSE(history.has_value());
  EXPECT_EQ(history.error().code, Code::kNotFound);
  EXPECT_THAT(history.error().message, HasSubstr("db.t: there is no history before the newest snapshot: "));
  EXPECT_THAT(history.error().message, HasSubstr("s3://b/t/m0.avro"));
}

/// 300 appends; the manifests of the first 200 are joined by snapshot 201.
GrowingTable Joined() {
  GrowingTable table = Appends(200);
  table.Begin();
  table.lines().clear();
  std::vector<iceberg::ManifestEntry> carried;
  for (int i = 1; i <= 200; ++i) {
    carried.push_back(iceberg::fixture::Carried(iceberg::EntryStatus::kExisting,
                                                Sized("f" + std::to_string(i), 19000, 100 * i), i, i));
  }
  table.AddManifest(carried);
  table.Commit("replace");
  for (int i = 202; i <= 300; ++i) {
    table.Begin();
    table.AddManifest({Added(Sized("f" + std::to_string(i), 19000, 100 * i))});
    table.Commit("append");
  }
  return table;
}

/// The history, and how many files were opened for it.
std::pair<History, int> Counted(GrowingTable& table) {
  int opened = 0;
  const std::shared_ptr<ports::FileIO> below(std::shared_ptr<void>(), &table.io());
  ports::HookedFileIO io(below, [&](const ports::IoEvent& event) -> Status {
    opened += event.operation == ports::IoOperation::kOpen && event.moment == ports::IoMoment::kBefore;
    return Ok();
  });
  History history = Must(ReadHistory(table.Loaded(), io, {}));
  return {std::move(history), opened};
}

TEST(History, ManyManifestsThatAreGone_AreNotAskedForOneByOne) {
  GrowingTable table = Joined();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(table.io().Delete(fmt::format("s3://b/t/m{}.avro", i)));
  const auto [history, opened] = Counted(table);
  EXPECT_EQ(history.start.snapshot_id, SnapshotId(201));
  EXPECT_EQ(history.start.files.size(), 200U);
  ASSERT_EQ(history.changes.changes.size(), 99U);
  for (std::size_t i = 0; i < 99; ++i) {
    ASSERT_EQ(history.changes.changes[i].snapshot_id.value, 202 + static_cast<std::int64_t>(i));
  }
  EXPECT_EQ(history.changes.since, SnapshotId(201));
  EXPECT_EQ(history.changes.head, SnapshotId(300));
  EXPECT_THAT(history.start_reason, HasSubstr("snapshot 200: "));
  EXPECT_LT(opened, 99 * 2 + 60) << "a list and a manifest a snapshot, and little else";
}

TEST(History, AManifestOfManySnapshotsThatIsGone_IsNotMetInEachOfThem) {
  GrowingTable table = Joined();
  ASSERT_TRUE(table.io().Delete("s3://b/t/m150.avro"));  // of snapshots 151 to 200
  const auto [history, opened] = Counted(table);
  EXPECT_EQ(history.start.snapshot_id, SnapshotId(201));
  EXPECT_EQ(history.changes.changes.size(), 99U);
  EXPECT_THAT(history.start_reason, HasSubstr("snapshot 200: "));
  EXPECT_LT(opened, 3'000);
}

TEST(History, TablesWithoutHistoryAreRefused) {
  GrowingTable empty;
  const auto none = Read(empty);
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().message, "db.t: the table has no snapshot: there is no history");
  GrowingTable one = Appends(1);
  const auto single = Read(one);
  ASSERT_FALSE(single.has_value());
  EXPECT_THAT(single.error().message, HasSubstr("no history before the newest snapshot: it is the table's"));
  const auto branch = Read(one, {.ref = "other"});
  ASSERT_FALSE(branch.has_value());
  EXPECT_EQ(branch.error().code, Code::kNotFound);
  EXPECT_THAT(branch.error().message, HasSubstr("`other`"));
}

/// The error when the snapshot's time is another one.
Error WithTime(std::int64_t id, std::int64_t ms) {
  GrowingTable table = Appends(4);
  std::string& text = table.snapshots()[id];
  const std::string before = std::to_string(1602638573590 + id * 1000);
  text.replace(text.find(before), before.size(), std::to_string(ms));
  const auto history = Read(table);
  return history ? Error{Code::kInternal, "it was read"} : history.error();
}

TEST(History, TimesThatCannotBeTrueAreRefused) {
  for (const auto& [id, ms, what] : std::vector<std::tuple<std::int64_t, std::int64_t, std::string>>{
           {4, 1602638577590000, "no time from 1970 to 9999"},
           {2, 1602638575590000, "no time from 1970 to 9999"},
           {4, INT64_MAX, "no time from 1970 to 9999"},
           {3, -1, "no time from 1970 to 9999"},
           {3, 1602638576, "more than a year before that of its parent"},
           {3, 4000000000000, "more than ten years after that of its parent"}}) {
    const Error error = WithTime(id, ms);
    EXPECT_EQ(error.code, Code::kCorrupt) << id << ", " << ms;
    EXPECT_THAT(error.message, HasSubstr(what));
    EXPECT_THAT(error.message, HasSubstr(fmt::format("snapshot {}: its time is {} ms", id, ms)));
  }
}

TEST(History, ASnapshotThatIsItsOwnAncestorIsTheFirst) {
  GrowingTable table = Appends(4);
  std::string& text = table.snapshots()[3];
  const std::string parent = R"("parent-snapshot-id":2)";
  text.replace(text.find(parent), parent.size(), R"("parent-snapshot-id":4)");
  const auto history = Read(table);
  ASSERT_TRUE(history.has_value()) << history.error().message;
  EXPECT_EQ(history->start.snapshot_id, SnapshotId(3));
  EXPECT_EQ(history->changes.changes.size(), 1U);
  EXPECT_EQ(history->start_reason, "snapshot 4 is its own ancestor");
}

TEST(History, BranchesHaveTheirOwn) {
  GrowingTable table = Appends(3);
  table.Begin();
  table.lines().resize(2);
  table.AddManifest({Added(Sized("b", 19000, 900))});
  table.CommitOn(2, "append");
  table.set_head(3);
  table.set_refs(R"(,"refs":{"main":{"snapshot-id":3,"type":"branch"},"audit":{"snapshot-id":4,"type":"branch"}})");
  const History history = Must(Read(table, {.ref = "audit"}));
  ASSERT_EQ(history.changes.changes.size(), 2U);
  EXPECT_EQ(history.changes.changes[0].snapshot_id, SnapshotId(2));
  EXPECT_EQ(history.changes.changes[1].snapshot_id, SnapshotId(4));
}

TEST(History, OnlyTheLastHoursWhenAsked) {
  GrowingTable table = Appends(6);  // a second apart
  const History history = Must(Read(table, {.length_ms = 2'000}));
  EXPECT_EQ(history.start.snapshot_id, SnapshotId(3));
  EXPECT_EQ(history.changes.changes.size(), 3U);
  EXPECT_THAT(history.start_reason, HasSubstr("older than was asked for"));
}

TEST(History, MoreThanTheLimitIsAnError) {
  GrowingTable table = Appends(6);
  const auto history = Read(table, {.snapshots_max = 3});
  ASSERT_FALSE(history.has_value());
  EXPECT_EQ(history.error().code, Code::kLimit);
  EXPECT_THAT(history.error().message, HasSubstr("5 snapshots, at most 3"));
  GrowingTable longer = Appends(200);
  const auto entries = Read(longer, {.entries_max = 150});
  ASSERT_FALSE(entries.has_value());
  EXPECT_EQ(entries.error().code, Code::kLimit);
  EXPECT_THAT(entries.error().message, HasSubstr("more than 150 manifest entries"));
  EXPECT_TRUE(Read(longer, {.entries_max = 200}));
}

}  // namespace
}  // namespace firn::observe
