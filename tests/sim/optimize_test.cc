// SPDX-License-Identifier: Apache-2.0
//
// The whole chain on simulated tables: observe, orient, decide, splice, commit; broken at every call.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "service/optimize.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

service::OptimizeOptions OptionsOf(int max_commits) {
  service::OptimizeOptions options;
  options.rewrite.max_commits = max_commits;
  options.rewrite.memory_bytes = 256 << 20;
  return options;
}

Result<service::Optimized> Optimize(World& world, int max_commits = 10) {
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  return world.AsProcess([&] { return service::Optimize(environment, SimTable::Id(), OptionsOf(max_commits)); });
}

std::size_t LiveFiles(World& world) {
  const Result<Contents> contents = world.table().ReadHead();
  return contents ? contents->files.size() : 0;
}

std::int64_t CallsOf(std::int32_t version) {
  World world(version);
  world.Fill(6, 3);
  world.injector.Reset();
  EXPECT_TRUE(Optimize(world).has_value());
  return world.injector.call_count();
}

class OptimizeTest : public testing::TestWithParam<std::int32_t> {};

TEST_P(OptimizeTest, SmallFiles_OneFileAPartitionAndThenNothing) {
  World world(GetParam());
  world.Fill(6, 3);
  const std::vector<Row> rows = world.Rows();
  const Result<service::Optimized> done = Optimize(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_TRUE(done->outcome.failures.empty());
  ASSERT_EQ(done->outcome.commits.size(), 1U);
  EXPECT_EQ(done->outcome.files_removed, 12);
  EXPECT_EQ(done->outcome.files_added, 2);
  EXPECT_EQ(done->outcome.rows, 36);
  EXPECT_EQ(LiveFiles(world), 2U);
  EXPECT_EQ(world.Rows(), rows);
  world.CheckSound();
  EXPECT_EQ(world.Orphans(), std::set<std::string>());

  const Result<service::Optimized> again = Optimize(world);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->rounds, 0);
}

TEST_P(OptimizeTest, Merged_BoundsAndCountsAreThoseOfTheWrittenFile) {
  World world(GetParam());
  world.Fill(6, 3);
  ASSERT_TRUE(Optimize(world).has_value());
  const Result<Contents> contents = world.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  for (const auto& [path, live] : contents->files) {
    const auto ids = std::ranges::minmax(live.rows, {}, &Row::id);
    const iceberg::Type long_type{.kind = iceberg::TypeKind::kLong};
    ASSERT_EQ(live.file.lower_bounds.size(), 2U);  // entries of the inputs bound the first column only
    EXPECT_EQ(live.file.lower_bounds[0].second, iceberg::EncodeBound(long_type, ids.min.id));
    EXPECT_EQ(live.file.upper_bounds[0].second, iceberg::EncodeBound(long_type, ids.max.id));
    EXPECT_EQ(live.file.value_counts.at(0).second, 18);
    EXPECT_EQ(live.file.split_offsets, std::vector<std::int64_t>{4});
    EXPECT_EQ(live.file.column_sizes.size(), 2U);
    EXPECT_EQ(live.sequence_number, GetParam() == 1 ? 0 : std::get<std::int32_t>(live.file.partition.values[0]) + 5);
  }
}

TEST_P(OptimizeTest, ProcessDiesAtAnyCall_NextRunCompletes) {
  const std::int64_t calls = CallsOf(GetParam());
  ASSERT_GT(calls, 60);
  for (std::int64_t k = 1; k <= calls; ++k) {
    for (const bool done : {false, true}) {
      World world(GetParam());
      world.Fill(6, 3);
      const std::vector<Row> rows = world.Rows();
      world.injector.Reset();
      world.injector.CrashAt(k, done);
      (void)Optimize(world).has_value();
      SCOPED_TRACE(testing::Message() << "call " << k << " of " << calls << (done ? " done: " : " not done: ")
                                      << world.injector.trace().at(static_cast<std::size_t>(k - 1)));
      world.injector.Reset();
      world.CheckSound();
      ASSERT_EQ(world.Rows(), rows);
      const std::size_t files = LiveFiles(world);
      EXPECT_TRUE(files == 12 || files == 2) << files;

      const Result<service::Optimized> second = Optimize(world);
      ASSERT_TRUE(second.has_value()) << ToString(second.error());
      EXPECT_TRUE(second->outcome.failures.empty());
      EXPECT_EQ(LiveFiles(world), 2U);
      world.CheckSound();
      ASSERT_EQ(world.Rows(), rows);
    }
  }
}

TEST_P(OptimizeTest, OneCallFails_RowsStayAndFilesAreNamed) {
  const std::int64_t calls = CallsOf(GetParam());
  for (std::int64_t k = 1; k <= calls; ++k) {
    for (const bool lost : {false, true}) {
      World world(GetParam());
      world.Fill(6, 3);
      const std::vector<Row> rows = world.Rows();
      world.injector.Reset();
      lost ? world.injector.LoseReplyAt(k) : world.injector.FailAt(k);
      const Result<service::Optimized> done = Optimize(world);
      SCOPED_TRACE(testing::Message() << "call " << k << (lost ? " lost: " : " failed: ")
                                      << world.injector.trace().at(static_cast<std::size_t>(k - 1)));
      world.injector.Reset();
      world.CheckSound();
      ASSERT_EQ(world.Rows(), rows);
      std::set<std::string> leftovers;
      if (done) leftovers.insert(done->outcome.leftover_files.begin(), done->outcome.leftover_files.end());
      for (const std::string& orphan : world.Orphans()) EXPECT_TRUE(leftovers.contains(orphan)) << orphan;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, OptimizeTest, testing::Values(1, 2),
                         [](const auto& param) { return "V" + std::to_string(param.param); });

/// A plan for both partitions whose groups are predicted to take long, so that each gets a commit.
service::Assessment SlowPlan(World& world) {
  const Result<ports::LoadedTable> table = world.table().Load();
  service::AssessOptions options;
  options.plan_id = "plan-1";
  Result<service::Assessment> assessment = table ? service::Assess(*table, *world.io, options, world.clock.Now())
                                                 : Result<service::Assessment>(table.error());
  if (!assessment) {
    world.Fail(assessment.error());
    return {};
  }
  for (decide::MergeGroup& group : assessment->plan.groups) group.predicted_seconds = 1000;
  return std::move(*assessment);
}

Result<act::Outcome> Execute(World& world, const service::Assessment& assessment, int max_commits,
                             std::vector<act::RewriteProgress>* seen = nullptr) {
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  act::RewriteDataOptions options;
  options.threads = 2;
  options.max_commits = max_commits;
  options.memory_bytes = 256 << 20;
  if (seen != nullptr) options.progress = [seen](const act::RewriteProgress& progress) { seen->push_back(progress); };
  return act::RewriteData(environment, SimTable::Id(), assessment.plan, assessment.facts, options);
}

TEST(RewriteData, LongPlan_SeveralCommitsAndProgressEndsComplete) {
  for (const int max_commits : {1, 2, 10}) {
    World world(2);
    world.Fill(6, 3);
    const std::vector<Row> rows = world.Rows();
    const service::Assessment assessment = SlowPlan(world);
    ASSERT_EQ(assessment.plan.groups.size(), 2U);
    std::vector<act::RewriteProgress> seen;
    const Result<act::Outcome> outcome = Execute(world, assessment, max_commits, &seen);
    ASSERT_TRUE(outcome.has_value()) << ToString(outcome.error());
    EXPECT_EQ(outcome->commits.size(), static_cast<std::size_t>(std::min(max_commits, 2)));
    EXPECT_EQ(world.CommitsOf(), std::min(max_commits, 2));
    EXPECT_EQ(LiveFiles(world), 2U);
    EXPECT_EQ(world.Rows(), rows);
    world.CheckSound();
    ASSERT_FALSE(seen.empty());
    EXPECT_EQ(seen.back().groups_done, 2);
    EXPECT_EQ(seen.back().bytes_done, seen.back().bytes_total);
    EXPECT_EQ(seen.back().commits_done, seen.back().commits_total);
    for (std::size_t i = 1; i < seen.size(); ++i) EXPECT_LE(seen[i - 1].bytes_done, seen[i].bytes_done);
  }
}

TEST(RewriteData, OneCommitDoesNotFit_TheOtherHolds) {
  World world(2);
  world.Fill(6, 3);
  const service::Assessment assessment = SlowPlan(world);
  bool removed = false;
  std::vector<Row> rows;
  world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
    if (removed || event.operation != ports::IoOperation::kCommitTable) return;
    removed = true;
    world.Fail(world.table().RemoveFile(world.table().ReadHead()->files.begin()->first));
    rows = world.Rows();
  };
  const Result<act::Outcome> outcome = world.AsProcess([&] { return Execute(world, assessment, 10); });
  ASSERT_TRUE(removed);
  ASSERT_TRUE(outcome.has_value()) << ToString(outcome.error());
  EXPECT_EQ(outcome->commits.size(), 1U);
  ASSERT_EQ(outcome->failures.size(), 1U);
  EXPECT_EQ(outcome->failures[0].error.code, Code::kConflict);
  EXPECT_EQ(outcome->failures[0].files, 6);
  EXPECT_EQ(world.Rows(), rows);
  world.CheckSound();
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST(RewriteData, DeletesAfterThePlan_AreTranslated) {
  for (const std::int32_t version : {2, 3}) {
    World world(version);
    world.Fill(6, 3);
    const service::Assessment assessment = SlowPlan(world);
    const Result<Contents> contents = world.table().ReadHead();
    ASSERT_TRUE(contents.has_value());
    const std::string& path = contents->files.begin()->first;
    world.Fail(version == 2 ? world.table().AddPositionDelete(path, 1) : world.table().AddVectors({{path, 1}}));
    const std::vector<Row> rows = world.Rows();
    const Result<act::Outcome> outcome = Execute(world, assessment, 10);
    ASSERT_TRUE(outcome.has_value()) << ToString(outcome.error());
    EXPECT_EQ(outcome->commits.size(), 2U);
    EXPECT_EQ(LiveFiles(world), 2U);
    EXPECT_EQ(world.Rows(), rows);
    world.CheckSound();
    EXPECT_EQ(world.Orphans(), std::set<std::string>());
  }
}

TEST(Optimize, BudgetLeavesOutWhatWasOvertaken_FailureStaysAndNoMoreIsRead) {
  World world(2);
  world.Fill(6, 3);
  const Result<Contents> contents = world.table().ReadHead();
  ASSERT_TRUE(contents.has_value());
  service::OptimizeOptions options = OptionsOf(10);
  options.assess.max_bytes = 0;
  for (const auto& [path, live] : contents->files) *options.assess.max_bytes += live.file.file_size_bytes;
  // Somebody removes an input of the first partition after all inputs were read.
  const std::string input = contents->files.begin()->first;
  bool removed = false;
  world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
    if (removed || event.operation != ports::IoOperation::kCommitTable) return;
    removed = true;
    world.Fail(world.table().RemoveFile(input));
  };
  std::vector<std::size_t> planned;
  options.planned = [&](int, const service::Assessment& found) { planned.push_back(found.plan.groups.size()); };
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  const Result<service::Optimized> done =
      world.AsProcess([&] { return service::Optimize(environment, SimTable::Id(), options); });
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_EQ(planned, (std::vector<std::size_t>{2, 0}));
  EXPECT_EQ(done->outcome.commits.size(), 1U);
  ASSERT_EQ(done->outcome.failures.size(), 1U);
  EXPECT_EQ(done->outcome.failures[0].error.code, Code::kConflict);
  EXPECT_EQ(done->outcome.failures[0].files, 6);

  // Without a limit the rest is made up for.
  removed = false;
  World free_world(2);
  free_world.Fill(6, 3);
  free_world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
    if (removed || event.operation != ports::IoOperation::kCommitTable) return;
    removed = true;
    free_world.Fail(free_world.table().RemoveFile(free_world.table().ReadHead()->files.begin()->first));
  };
  const Result<service::Optimized> all = Optimize(free_world);
  ASSERT_TRUE(all.has_value()) << ToString(all.error());
  EXPECT_TRUE(all->outcome.failures.empty());
  EXPECT_EQ(LiveFiles(free_world), 2U);
}

TEST(RewriteData, StalePlan_ConflictBeforeAnyWork) {
  World world(2);
  world.Fill(6, 3);
  const service::Assessment assessment = SlowPlan(world);
  world.Fail(world.table().RewriteManifests());
  const std::size_t files = world.storage->file_count();
  const Result<act::Outcome> outcome = Execute(world, assessment, 10);
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().code, Code::kConflict);
  EXPECT_EQ(world.storage->file_count(), files);
}

TEST(RewriteData, SamePlanTwice_DoneOnceAndNothingStays) {
  World world(2);
  world.Fill(6, 3);
  const service::Assessment assessment = SlowPlan(world);
  ASSERT_TRUE(Execute(world, assessment, 1).has_value());
  const std::vector<Row> rows = world.Rows();
  const Result<act::Outcome> again = Execute(world, assessment, 1);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, Code::kConflict);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST(RewriteData, FilesThatMustNotBeMerged_Refused) {
  World world(2);
  world.Fill(6, 3);
  service::Assessment assessment = SlowPlan(world);
  assessment.facts.files[assessment.plan.groups[0].files[0]].flags = observe::kHasMisplacedDeletes;
  assessment.plan.groups[1].files.resize(1);
  const std::size_t files = world.storage->file_count();
  const Result<act::Outcome> outcome = Execute(world, assessment, 1);
  ASSERT_TRUE(outcome.has_value());
  EXPECT_TRUE(outcome->commits.empty());
  ASSERT_EQ(outcome->failures.size(), 2U);
  EXPECT_EQ(outcome->failures[0].error.code, Code::kUnsupported);
  EXPECT_EQ(outcome->failures[1].error.code, Code::kInvalidArgument);
  EXPECT_EQ(world.storage->file_count(), files);
}

TEST(Optimize, ForeignCommitsAtAnyCall_BothHold) {
  const std::int64_t calls = CallsOf(2);
  for (std::int64_t k = 1; k <= calls; ++k) {
    for (const int kind : {0, 1, 2}) {
      World world(2, static_cast<std::uint64_t>(k));
      world.Fill(6, 3);
      std::vector<Row> rows = world.Rows();
      bool acted = false;
      world.injector.Reset();
      world.intrude = [&](std::int64_t call, const ports::IoEvent&) {
        if (call != k || acted) return;
        acted = true;
        EXPECT_EQ(world.Rows(), rows);
        if (kind == 0) world.Fail(world.table().AddEqualityDelete(0, {1, 4}));
        const Result<Contents> now = world.table().ReadHead();
        if (!now) return world.Fail(now.error());
        if (kind == 1) world.Fail(world.table().RemoveFile(now->files.begin()->first));
        if (kind == 2) world.Fail(world.table().AddPositionDelete(now->files.begin()->first, 2));
        rows = world.Rows();
      };
      const Result<service::Optimized> done = Optimize(world);
      world.intrude = nullptr;
      SCOPED_TRACE(testing::Message() << "call " << k << ", kind " << kind);
      ASSERT_TRUE(done.has_value()) << ToString(done.error());
      EXPECT_EQ(world.Rows(), rows);
      world.CheckSound();
      EXPECT_EQ(world.Orphans(), std::set<std::string>());
    }
  }
}

TEST(Optimize, Cancelled_NothingStays) {
  World world(2);
  world.Fill(6, 3);
  const std::vector<Row> rows = world.Rows();
  for (const std::int64_t at : {1, 40, 60, 80}) {
    std::atomic<bool> cancelled = false;
    act::CommitEnvironment environment = world.Environment(*world.catalog);
    environment.cancelled = &cancelled;
    world.injector.Reset();
    world.intrude = [&](std::int64_t call, const ports::IoEvent&) { cancelled = cancelled || call >= at; };
    const Result<service::Optimized> done =
        world.AsProcess([&] { return service::Optimize(environment, SimTable::Id(), OptionsOf(10)); });
    world.intrude = nullptr;
    if (done) {
      EXPECT_TRUE(done->outcome.commits.empty());
      EXPECT_FALSE(done->outcome.failures.empty());
    }
    EXPECT_EQ(world.Rows(), rows);
    EXPECT_EQ(world.Orphans(), std::set<std::string>());
  }
}

}  // namespace
}  // namespace firn::sim
