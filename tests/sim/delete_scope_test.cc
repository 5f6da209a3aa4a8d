// SPDX-License-Identifier: Apache-2.0
//
// Deletes whose scope or life does not fit the merge that they meet.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/world.h"

namespace firn::sim {
namespace {

/// A merge of partition 0 whose output is recorded in partition 1, as a change of the partitioning would do.
act::Rewrite MoveToPartition1(World& world) {
  act::RewriteGroup group = world.MergeOf(0, 4);
  group.added[0].file.partition.values = {1};
  return world.PlanOf({std::move(group)});
}

void ExpectRefused(const RewriteReport& report, std::string_view reason) {
  ASSERT_FALSE(report.commit.status.has_value());
  EXPECT_EQ(report.commit.status.error().code, Code::kConflict);
  EXPECT_NE(report.commit.status.error().message.find(reason), std::string::npos)
      << report.commit.status.error().message;
}

TEST(DeleteScope, EqualityDeleteWouldEscape_Refused) {
  World world(2);
  world.Fill(6, 3);
  act::Rewrite rewrite = MoveToPartition1(world);
  world.Fail(world.table().AddEqualityDelete(0, {1}));
  ExpectRefused(world.Run(std::move(rewrite)), "would no longer apply");
}

TEST(DeleteScope, EqualityDeleteWouldReachMore_Refused) {
  World world(2);
  world.Fill(6, 3);
  act::Rewrite rewrite = MoveToPartition1(world);
  world.Fail(world.table().AddEqualityDelete(1, {1}));
  ExpectRefused(world.Run(std::move(rewrite)), "would begin to apply");
}

TEST(DeleteScope, EqualityDeleteCameAndWent_Refused) {
  World world(2);
  world.Fill(6, 3);
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 4)});
  world.Fail(world.table().AddEqualityDelete(0, {1}));
  world.Fail(world.table().DropDeletes());
  ExpectRefused(world.Run(std::move(rewrite)), "came and went");
}

TEST(DeleteScope, DeleteOfThePlanIsGone_Refused) {
  World world(2);
  world.Fill(6, 3);
  world.Fail(world.table().AddEqualityDelete(0, {1}));
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 4)});
  world.Fail(world.table().DropDeletes());
  ExpectRefused(world.Run(std::move(rewrite)), "was removed since the plan");
}

TEST(DeleteScope, DeletesElsewhereGone_Merged) {
  World world(2);
  world.Fill(6, 3);
  world.Fail(world.table().AddEqualityDelete(1, {3}));
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 4)});
  world.Fail(world.table().DropDeletes());
  const std::vector<Row> rows = world.Rows();
  EXPECT_TRUE(world.Run(std::move(rewrite)).commit.status.has_value());
  EXPECT_EQ(world.Rows(), rows);
}

TEST(DeleteScope, FileRemovedAndAddedAgain_Refused) {
  World world(2);
  world.Fill(6, 3);
  act::RewriteGroup group = world.MergeOf(0, 4);
  const std::string path = group.removed[1].path;
  act::Rewrite rewrite = world.PlanOf({std::move(group)});
  world.Fail(world.table().RemoveFile(path));
  world.Fail(world.table().AddAgain(path));
  ExpectRefused(world.Run(std::move(rewrite)), "no longer in the table");
}

TEST(DeleteScope, FileTwiceInTheTable_Refused) {
  World world(2);
  world.Fill(6, 3);
  act::Rewrite rewrite = world.PlanOf({world.MergeOf(0, 4), world.MergeOf(0, 3)});
  const std::vector<Row> rows = world.Rows();
  const RewriteReport report = world.Run(std::move(rewrite));
  ASSERT_TRUE(report.commit.status.has_value());
  ASSERT_EQ(report.refusals.size(), 1U);
  EXPECT_EQ(report.refusals[0].error.code, Code::kCorrupt);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

}  // namespace
}  // namespace firn::sim
