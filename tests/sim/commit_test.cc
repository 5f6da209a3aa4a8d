// SPDX-License-Identifier: Apache-2.0
//
// What a commit writes, on which branch, and what it refuses before it writes anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "observe/manifest_scan.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

using iceberg::EntryStatus;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;

class CommitTest : public testing::TestWithParam<std::int32_t> {};

TEST_P(CommitTest, Merge_EntriesKeepTheirNumbers) {
  World world(GetParam());
  world.Fill(6, 3);
  const Result<Contents> before = world.table().ReadHead();
  ASSERT_TRUE(before.has_value());
  act::RewriteGroup group = world.MergeOf(0, 4);
  std::set<std::string> removed;
  for (const act::RemovedFile& file : group.removed) removed.insert(file.path);
  const std::string merged = group.added[0].file.file_path;
  const RewriteReport report = world.Run(world.PlanOf({std::move(group)}));
  ASSERT_TRUE(report.commit.status.has_value());
  ASSERT_TRUE(report.commit.snapshot_id.has_value());

  const Result<ports::LoadedTable> table = world.table().Load();
  const iceberg::Snapshot& head = *table->metadata->current_snapshot();
  EXPECT_EQ(head.id, *report.commit.snapshot_id);
  EXPECT_EQ(head.operation(), "replace");
  const Result<Contents> after = world.table().ReadHead();
  ASSERT_TRUE(after.has_value());
  EXPECT_EQ(after->rows, before->rows);
  EXPECT_EQ(after->files.size(), before->files.size() - 3);
  EXPECT_EQ(after->files.at(merged).sequence_number, GetParam() == 1 ? 0 : 5);
  EXPECT_EQ(after->files.at(merged).file_sequence_number, head.sequence_number.value);
  for (const auto& [path, live] : before->files) {
    ASSERT_EQ(after->files.contains(path), !removed.contains(path));
    if (removed.contains(path)) continue;
    EXPECT_EQ(after->files.at(path).sequence_number, live.sequence_number);
    EXPECT_EQ(after->files.at(path).file_sequence_number, live.file_sequence_number);
    EXPECT_EQ(after->files.at(path).file.first_row_id, live.file.first_row_id);
    EXPECT_EQ(after->files.at(path).file.lower_bounds, live.file.lower_bounds);
  }
  EXPECT_EQ(*head.FindSummary("total-records"), std::to_string(before->rows.size()));
  EXPECT_EQ(*head.FindSummary("deleted-data-files"), "4");
}

TEST_P(CommitTest, Merge_ManifestsAreGroupedAndDeletedEntriesApart) {
  World world(GetParam());
  world.Fill(6, 3);
  const RewriteReport report = world.Run(world.PlanOf({world.MergeOf(0, 4)}));
  ASSERT_TRUE(report.commit.status.has_value());
  const Result<ports::LoadedTable> table = world.table().Load();
  const iceberg::Snapshot& head = *table->metadata->current_snapshot();
  const auto lines = observe::ReadManifests(*world.storage, head, *table->metadata);
  ASSERT_TRUE(lines.has_value());
  int own = 0;
  for (const ManifestFile& line : *lines) {
    if (line.added_snapshot_id != head.id) continue;
    ++own;
    std::set<EntryStatus> statuses;
    world.Fail(observe::ForEachEntry(*world.storage, line, *table->metadata, iceberg::Wanted::everything(),
                                     [&](ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                       statuses.insert(entry.status);
                                       EXPECT_EQ(entry.snapshot_id == head.id, entry.status != EntryStatus::kExisting);
                                       return true;
                                     }));
    EXPECT_EQ(statuses.size(), 1U);
  }
  EXPECT_EQ(own, 3);

  // The next commit drops the manifest that holds nothing but deletions.
  ASSERT_TRUE(world.Run(world.PlanOf({world.MergeOf(1, 4)}, "plan-2")).commit.status.has_value());
  const Result<ports::LoadedTable> next = world.table().Load();
  const auto next_lines = observe::ReadManifests(*world.storage, *next->metadata->current_snapshot(), *next->metadata);
  ASSERT_TRUE(next_lines.has_value());
  EXPECT_TRUE(std::ranges::none_of(*next_lines, [&](const ManifestFile& line) {
    return line.added_snapshot_id == head.id && !iceberg::MayHaveLiveFiles(line);
  }));
  world.CheckSound();
}

TEST_P(CommitTest, SmallTargetSize_SeveralManifests) {
  World world(GetParam());
  world.Fill(6, 3);
  world.Fail(world.table().SetProperty("commit.manifest.target-size-bytes", "1"));
  const std::vector<Row> rows = world.Rows();
  ASSERT_TRUE(world.Run(world.PlanOf({world.MergeOf(0, 4), world.MergeOf(1, 4)})).commit.status.has_value());
  EXPECT_EQ(world.Rows(), rows);
  world.CheckSound();
}

INSTANTIATE_TEST_SUITE_P(Formats, CommitTest, testing::Values(1, 2, 3),
                         [](const auto& param) { return "V" + std::to_string(param.param); });

/// Runs a merge on `ref` and returns its report.
RewriteReport RunOn(World& world, act::Rewrite rewrite, const std::string& ref) {
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  act::CommitTarget target;
  target.table = SimTable::Id();
  target.ref = ref;
  return CommitRewrite(environment, target, std::move(rewrite));
}

void SetRef(World& world, const std::string& name, bool is_branch) {
  const Result<ports::LoadedTable> base = world.table().Load();
  iceberg::SnapshotRef ref;
  ref.name = name;
  ref.snapshot_id = base->metadata->current_snapshot()->id;
  ref.is_branch = is_branch;
  if (is_branch) {
    ref.max_snapshot_age_ms = 12'345;
    ref.min_snapshots_to_keep = 7;
  }
  ports::TableCommit commit;
  commit.updates.push_back(iceberg::SetSnapshotRef{ref});
  world.Fail(world.catalog->CommitTable(*base, commit) ? Ok() : Status(Error{Code::kInternal, "no ref"}));
}

TEST(CommitRefs, Branch_OnlyItMovesAndKeepsItsRetention) {
  World world(2);
  world.Fill(6, 3);
  SetRef(world, "audit", true);
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 4)});
  const auto appended = world.table().Append(0, {{5000}});
  ASSERT_TRUE(appended.has_value());
  const SnapshotId main = world.table().Load()->metadata->current_snapshot()->id;
  const RewriteReport report = RunOn(world, std::move(rewrite), "audit");
  ASSERT_TRUE(report.commit.status.has_value());
  const iceberg::MetadataPtr after = world.table().Load()->metadata;
  EXPECT_EQ(after->current_snapshot()->id, main);
  const iceberg::SnapshotRef* branch = after->FindRef("audit");
  ASSERT_NE(branch, nullptr);
  EXPECT_EQ(branch->snapshot_id, *report.commit.snapshot_id);
  EXPECT_EQ(branch->max_snapshot_age_ms, 12'345);
  EXPECT_EQ(branch->min_snapshots_to_keep, 7);
  EXPECT_EQ(*after->RefSnapshot("audit")->parent_id, *after->FindSnapshot(main)->parent_id);
  EXPECT_GT(after->RefSnapshot("audit")->sequence_number, after->FindSnapshot(main)->sequence_number);
  world.CheckSound();
}

TEST(CommitRefs, TagOrMissingBranch_RefusedAndCleanedUp) {
  for (const auto& [ref, code] :
       {std::pair("release", Code::kInvalidArgument), std::pair("nowhere", Code::kNotFound)}) {
    World world(2);
    world.Fill(6, 3);
    SetRef(world, "release", false);
    const RewriteReport report = RunOn(world, world.PlanOf({world.MergeOf(0, 4)}), ref);
    ASSERT_FALSE(report.commit.status.has_value());
    EXPECT_EQ(report.commit.status.error().code, code);
    EXPECT_EQ(world.Orphans(), std::set<std::string>());
  }
}

TEST(CommitRefusal, TableReplacedOrUpgraded_NothingIsWritten) {
  World world(2);
  world.Fill(6, 3);
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 4)});
  act::Rewrite upgraded = rewrite;
  upgraded.format_version = 1;
  EXPECT_EQ(world.Run(upgraded).commit.status.error().code, Code::kConflict);

  act::CommitEnvironment environment = world.Environment(*world.catalog);
  act::CommitTarget target;
  target.table = SimTable::Id();
  target.table_uuid = "another";
  EXPECT_EQ(CommitRewrite(environment, target, rewrite).commit.status.error().code, Code::kConflict);

  EXPECT_EQ(world.CommitsOf(), 0);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST(CommitRefusal, RowsDoNotAddUpOrNumberOutOfRange_Refused) {
  World world(2);
  world.Fill(6, 3);
  const act::Rewrite good = world.PlanOf({world.MergeOf(0, 4)});
  for (const int kind : {0, 1, 2}) {
    act::Rewrite bad = good;
    act::AddedFile& added = bad.groups[0].added[0];
    if (kind == 0) --added.file.record_count;
    if (kind == 1) added.data_sequence_number = SequenceNumber(1);
    if (kind == 2) added.data_sequence_number = SequenceNumber(100);
    const RewriteReport report = world.Run(bad);
    ASSERT_FALSE(report.commit.status.has_value());
    EXPECT_EQ(report.commit.status.error().code, Code::kInternal);
  }
  EXPECT_EQ(world.CommitsOf(), 0);
}

TEST(CommitRefusal, Cancelled_CleanedUp) {
  World world(2);
  world.Fill(6, 3);
  std::atomic<bool> cancelled = true;
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  environment.cancelled = &cancelled;
  act::CommitTarget target;
  target.table = SimTable::Id();
  const RewriteReport report = CommitRewrite(environment, target, world.PlanOf({world.MergeOf(0, 4)}));
  ASSERT_FALSE(report.commit.status.has_value());
  EXPECT_EQ(report.commit.status.error().code, Code::kCancelled);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST(CommitFence, SecondActorWithTheSamePlan_DoesNothingAndCleansUp) {
  World world(2);
  world.Fill(6, 3);
  act::Rewrite first = world.PlanOf({world.MergeOf(0, 4)});
  act::Rewrite second = world.PlanOf({world.MergeOf(0, 4)});
  ASSERT_TRUE(world.Run(std::move(first)).commit.status.has_value());
  const std::vector<Row> rows = world.Rows();
  const RewriteReport report = world.Run(std::move(second));
  ASSERT_TRUE(report.commit.status.has_value());
  EXPECT_TRUE(report.commit.done_before);
  EXPECT_EQ(world.CommitsOf(), 1);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST(CommitClock, ClockBehindTheTable_TimestampsDoNotGoBack) {
  World world(2);
  world.Fill(6, 3);
  const iceberg::MetadataPtr before = world.table().Load()->metadata;
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 4)});
  world.clock.SleepMs(-10'000'000);
  ASSERT_TRUE(world.Run(std::move(rewrite)).commit.status.has_value());
  const iceberg::MetadataPtr after = world.table().Load()->metadata;
  EXPECT_GE(after->current_snapshot()->timestamp, before->current_snapshot()->timestamp);
  EXPECT_GE(after->last_updated(), before->last_updated());
}

}  // namespace
}  // namespace firn::sim
