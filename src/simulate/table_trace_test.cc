// SPDX-License-Identifier: Apache-2.0
#include "simulate/table_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "simulate/world.h"

namespace firn::simulate {
namespace {

using ::testing::HasSubstr;
constexpr std::int64_t kStartMs = 1'000'000;

/// A history that is written down snapshot by snapshot.
class Table {
 public:
  Table() {
    facts.snapshot_id = SnapshotId{1};
    facts.observed_at = TimestampMs{kStartMs};
    changes.table = "db.t";
    for (int day = 0; day < 2; ++day) {
      observe::PartitionFacts& partition = facts.partitions.emplace_back();
      partition.tuple.values = {day};
    }
  }
  observe::DataFileFacts& Has(std::uint32_t day, std::int64_t size_bytes) {
    observe::DataFileFacts& file = facts.files.emplace_back();
    file.partition = day;
    file.size_bytes = size_bytes;
    file.record_count = size_bytes / 10;
    return file;
  }
  observe::Change& Snapshot(std::string operation, std::int64_t after_ms) {
    observe::Change& change = changes.changes.emplace_back();
    change.operation = std::move(operation);
    change.timestamp = TimestampMs{kStartMs + after_ms};
    return change;
  }
  static observe::PartitionDelta& In(observe::Change& change, int day, const std::vector<std::int64_t>& added,
                                     const std::vector<std::int64_t>& removed = {}) {
    observe::PartitionDelta& delta = change.partitions.emplace_back();
    delta.tuple.values = {day};
    for (const std::int64_t size : added) delta.added.push_back({size, size / 10, 0});
    for (const std::int64_t size : removed) delta.removed.push_back({size, size / 10, 0});
    return delta;
  }
  TableHistory Make() const {
    auto made = MakeTableHistory(facts, changes, "why");
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message);
    return made ? std::move(*made) : TableHistory();
  }
  static World Play(const TableHistory& history) {
    World world(1, 1000);
    HistoryTrace trace(std::make_shared<TableHistory>(history));
    Commit commit;
    while (trace.Next(commit)) {
      world.Apply(commit);
      const Status status = world.Check();
      EXPECT_TRUE(status.has_value()) << status.error().message;
    }
    return world;
  }

  observe::Facts facts;
  observe::ChangeSet changes;
};

TEST(TableTrace, StartFilesThenTheCommitsOfWriters) {
  Table table;
  table.Has(0, 100);
  table.Has(1, 200);
  table.Has(1, 300);
  Table::In(table.Snapshot("append", 5'000), 1, {400});
  Table::In(table.Snapshot("overwrite", 9'000), 0, {50}, {100});
  const TableHistory history = table.Make();
  ASSERT_EQ(history.commits.size(), 3U);
  EXPECT_EQ(history.commits[0].at.value, kStartMs);
  EXPECT_EQ(history.commits[1].at.value, kStartMs + 5'000);
  EXPECT_EQ(history.end.value, kStartMs + 9'000 + kTailMs);
  EXPECT_EQ(history.partitions, 2U);
  const World world = Table::Play(history);
  EXPECT_EQ(world.totals().files, 4);
  EXPECT_EQ(world.totals().bytes, 950);
  EXPECT_EQ(world.totals().rows, 95);
  EXPECT_EQ(world.removals_redirected(), 0);
}

TEST(TableTrace, RewritesAreLeftOutAndSaid) {
  Table table;
  table.Has(0, 100);
  table.Has(0, 200);
  Table::In(table.Snapshot("append", 1'000), 0, {300});
  Table::In(table.Snapshot("replace", 2'000), 0, {590}, {100, 200, 300});
  observe::Change& own = table.Snapshot("overwrite", 3'000);
  own.is_own = true;
  Table::In(own, 0, {580}, {590});
  table.Snapshot("append", 3'500);
  Table::In(table.Snapshot("append", 4'000), 0, {40});
  const TableHistory history = table.Make();
  EXPECT_EQ(history.commits.size(), 3U);
  EXPECT_EQ(history.rewrites_left_out, 2);
  EXPECT_EQ(history.files_of_rewrites, 4);
  EXPECT_EQ(history.empty_snapshots, 1);
  EXPECT_EQ(Table::Play(history).totals().bytes, 640);
  std::string text;
  for (const std::string& sentence : Sentences(history)) text += sentence + "\n";
  EXPECT_THAT(text, HasSubstr("Starts with the 2 data files of snapshot 1, as one commit: why."));
  EXPECT_THAT(text, HasSubstr("Then 2 commits of writers to 2 partitions"));
  EXPECT_THAT(text, HasSubstr("Left out: 2 rewrites (`replace`, or firn's own) of 4 files"));
}

/// The writer drops the merged file; here its inputs are still there.
TEST(TableTrace, APartitionThatAWriterEmptiesIsEmpty) {
  Table table;
  for (int i = 0; i < 10; ++i) table.Has(0, 100 + i);
  Table::In(table.Snapshot("replace", 1'000), 0, {900}, {100, 101, 102, 103, 104, 105, 106, 107, 108, 109});
  Table::In(table.Snapshot("delete", 2'000), 0, {}, {900});
  const World world = Table::Play(table.Make());
  EXPECT_EQ(world.totals().files, 0);
  EXPECT_EQ(world.totals().rows, 0);
}

TEST(TableTrace, AMergedFileThatGoesTakesItsBytes) {
  Table table;
  for (int i = 0; i < 5; ++i) table.Has(0, 100);
  table.Has(0, 1'000);
  Table::In(table.Snapshot("replace", 1'000), 0, {450}, {100, 100, 100, 100, 100});
  Table::In(table.Snapshot("overwrite", 2'000), 0, {}, {450});
  const World world = Table::Play(table.Make());
  EXPECT_EQ(world.totals().bytes, 1'050);
  EXPECT_EQ(world.removals_redirected(), 1);
}

TEST(TableTrace, DeletesOfTheStartStayWhereTheyWere) {
  Table table;
  observe::DataFileFacts& vector = table.Has(0, 1'000);
  vector.flags = observe::kHasDeletionVector;
  vector.deleted_rows = 30;
  vector.delete_files = 1;
  observe::DataFileFacts& old = table.Has(0, 2'000);
  old.flags = observe::kHasEqualityDeletes;
  old.delete_files = 3;
  observe::DataFileFacts& younger = table.Has(0, 3'000);
  younger.flags = observe::kHasEqualityDeletes;
  younger.delete_files = 1;
  table.facts.partitions[0].equality_delete_files = 3;
  Table::In(table.Snapshot("append", 1'000), 1, {400});
  const World world = Table::Play(table.Make());
  EXPECT_EQ(world.totals().vectors, 1);
  EXPECT_EQ(world.totals().equality_deletes, 3);
  EXPECT_EQ(world.totals().delete_reads, 1 + 3 + 1);
  EXPECT_EQ(world.totals().rows, 600 - 30 + 40);
}

/// Deletes that outlived their files, and a first snapshot without any.
TEST(TableTrace, AStartWithoutFilesIsNoCommit) {
  Table table;
  table.facts.partitions[0].equality_delete_files = 4;
  Table::In(table.Snapshot("append", 1'000), 0, {400});
  const TableHistory history = table.Make();
  ASSERT_EQ(history.commits.size(), 1U);
  EXPECT_EQ(history.commits[0].at.value, kStartMs + 1'000);
  EXPECT_EQ(Table::Play(history).totals().delete_reads, 0);
  EXPECT_THAT(Sentences(history).at(1), HasSubstr("Then 1 commit of writers to 2 partitions"));
}

TEST(TableTrace, DeletesOfWritersReachOlderFiles) {
  Table table;
  table.Has(0, 1'000);
  table.Has(0, 1'000);
  observe::PartitionDelta& upsert = Table::In(table.Snapshot("overwrite", 1'000), 0, {500});
  upsert.added_deletes.equality_files = 2;
  upsert.added_deletes.vectors = 2;
  upsert.added_deletes.rows = 25;
  upsert.removed_deletes.vectors = 1;
  upsert.removed_deletes.rows = 5;
  const World world = Table::Play(table.Make());
  EXPECT_EQ(world.totals().rows, 250 - 20);
  EXPECT_EQ(world.totals().vectors, 2);
  EXPECT_EQ(world.totals().equality_deletes, 2);
  EXPECT_EQ(world.totals().delete_reads, 2 * 2 + 2);
}

TEST(TableTrace, AClockThatGoesBackStandsStill) {
  Table table;
  table.Has(0, 100);
  Table::In(table.Snapshot("append", 5'000), 0, {1});
  Table::In(table.Snapshot("append", 2'000), 0, {2});
  const TableHistory history = table.Make();
  EXPECT_EQ(history.commits[2].at.value, kStartMs + 5'000);
}

TEST(TableTrace, WithoutAWriterThereIsNothingToReplay) {
  Table table;
  table.Has(0, 100);
  Table::In(table.Snapshot("replace", 1'000), 0, {90}, {100});
  const auto made = MakeTableHistory(table.facts, table.changes, "");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code, Code::kInvalidArgument);
  EXPECT_THAT(made.error().message, HasSubstr("db.t: no writer changed a file"));
  EXPECT_THAT(made.error().message, HasSubstr("1 snapshot after the first one, 1 of them"));
}

}  // namespace
}  // namespace firn::simulate
