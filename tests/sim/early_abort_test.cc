// SPDX-License-Identifier: Apache-2.0
//
// Groups that others have made impossible end while they are merged, and not when they are committed.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "act/rewrite_data.h"
#include "service/optimize.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

class EarlyAbortTest : public testing::TestWithParam<std::int32_t> {
 protected:
  /// Merges both partitions; `act` happens when the first data file is opened.
  Result<act::Outcome> Run(World& world, const std::function<Status(const std::string& path)>& act) {
    act::CommitEnvironment environment = world.Environment(*world.catalog);
    service::AssessOptions assess;
    assess.plan_id = "plan-1";
    const Result<ports::LoadedTable> table = world.table().Load();
    FIRN_ASSIGN(const service::Assessment found, service::Assess(*table, *world.io, assess, world.clock.Now()));
    EXPECT_EQ(found.plan.groups.size(), 2U);
    act::RewriteDataOptions options;
    options.watch_interval_ms = 0;
    bool acted = false;
    world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
      const bool is_data = event.location.find("/data/part=") != std::string::npos;
      if (event.operation == ports::IoOperation::kCommitTable) ++commits_sent_;
      if (event.operation == ports::IoOperation::kCreate && is_data) ++outputs_;
      if (acted || !is_data || event.operation != ports::IoOperation::kOpen) return;
      acted = true;
      world.Fail(act(event.location));
    };
    auto outcome = world.AsProcess(
        [&] { return act::RewriteData(environment, SimTable::Id(), found.plan, found.facts, options); });
    world.intrude = nullptr;
    EXPECT_TRUE(acted);
    world.CheckSound();
    return outcome;
  }

  int commits_sent_ = 0, outputs_ = 0;
};

TEST_P(EarlyAbortTest, InputIsRemoved_ItsGroupEndsAndTheOtherIsCommitted) {
  World world(GetParam());
  world.Fill(8, 2);
  const auto outcome = Run(world, [&](const std::string& path) { return world.table().RemoveFile(path); });
  ASSERT_TRUE(outcome.has_value()) << ToString(outcome.error());
  ASSERT_EQ(outcome->failures.size(), 1U);
  EXPECT_EQ(outcome->failures[0].error.code, Code::kConflict);
  EXPECT_NE(outcome->failures[0].error.message.find("was removed while it was rewritten"), std::string::npos)
      << outcome->failures[0].error.message;
  EXPECT_EQ(outcome->files_added, 1);
  EXPECT_TRUE(outcome->leftover_files.empty());
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST_P(EarlyAbortTest, RowsAreDeletedMeanwhile_NothingEnds) {
  if (GetParam() < 2) return;
  World world(GetParam());
  world.Fill(8, 2);
  const auto outcome = Run(world, [&](const std::string& path) {
    return GetParam() >= 3 ? world.table().AddVectors({{path, 1}})
                           : world.table().AddPositionDeletes({{path, 1}}, true);
  });
  ASSERT_TRUE(outcome.has_value()) << ToString(outcome.error());
  EXPECT_TRUE(outcome->failures.empty());
  EXPECT_EQ(outcome->files_added, 2);
  EXPECT_EQ(world.Rows().size(), 47U);
}

TEST_P(EarlyAbortTest, TableIsRolledBackBehindThePlan_EverythingEndsWithoutACommit) {
  World world(GetParam());
  world.Fill(8, 2);
  const auto outcome = Run(world, [&](const std::string&) -> Status {
    FIRN_ASSIGN(const ports::LoadedTable table, world.table().Load());
    return world.table().RollBack(*table.metadata->current_snapshot()->parent_id);
  });
  ASSERT_TRUE(outcome.has_value()) << ToString(outcome.error());
  EXPECT_EQ(outcome->failures.size(), 2U);
  EXPECT_EQ(commits_sent_, 0);
  EXPECT_LE(outputs_, 1);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Formats, EarlyAbortTest, testing::Values(1, 2, 3),
                         [](const auto& param) { return "V" + std::to_string(param.param); });

}  // namespace
}  // namespace firn::sim
