// SPDX-License-Identifier: Apache-2.0
//
// Delete files go with the data that needed them, and not a commit earlier.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/world.h"

namespace firn::sim {
namespace {

constexpr World::Style kFold{.row_maps = true, .fold = true, .shuffle = false};

/// Rewrites the first `count` files of partition 0 and expects that no row changes.
RewriteReport Rewrite(World& world, std::size_t count, const World::Style& style, const std::string& plan_id) {
  const std::vector<Row> rows = world.Rows();
  RewriteReport report = world.Run(world.PlanOf({world.RewriteOf(0, count, style)}, plan_id));
  EXPECT_TRUE(report.commit.status.has_value()) << ToString(report.commit.status.error());
  EXPECT_EQ(world.Rows(), rows);
  world.CheckSound();
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
  return report;
}

std::size_t DeletesOf(World& world) {
  const Result<Contents> contents = world.table().ReadHead();
  EXPECT_TRUE(contents.has_value());
  return contents->deletes.size();
}

std::string Summary(World& world, const std::string& key) {
  const Result<ports::LoadedTable> table = world.table().Load();
  const std::string* value = table->metadata->current_snapshot()->FindSummary(key);
  return value == nullptr ? "" : *value;
}

// apache/iceberg#10312.
TEST(DeadDeletes, EqualityDeleteDuringRewriteOfAllOlderFiles_Stays) {
  for (const bool row_maps : {false, true}) {
    World world(2);
    world.Fail(world.table().Append(0, {{1, 2, 3}}) ? Ok() : Status(Error{Code::kInternal, "append"}));
    act::Rewrite rewrite = world.PlanOf({world.RewriteOf(0, 1, {.row_maps = row_maps})});
    world.Fail(world.table().AddEqualityDelete(0, {2}));
    ASSERT_TRUE(world.table().Append(0, {{4}}).has_value());
    ASSERT_TRUE(world.Run(std::move(rewrite)).commit.status.has_value());
    EXPECT_EQ(world.Rows(), (std::vector<Row>{{1, 0}, {3, 0}, {4, 0}}));
    EXPECT_EQ(DeletesOf(world), 1U);

    // Once it is applied, nothing needs it: the file with row 4 is younger.
    Rewrite(world, 2, kFold, "plan-2");
    EXPECT_EQ(DeletesOf(world), 0U);
    EXPECT_EQ(Summary(world, "removed-equality-delete-files"), "1");
    EXPECT_EQ(Summary(world, "removed-equality-deletes"), "1");
  }
}

TEST(DeadDeletes, EqualityDeleteOfFilesThatAreLeft_Stays) {
  World world(2);
  world.Fill(6, 3);
  world.Fail(world.table().AddEqualityDelete(0, {1, 4}));
  Rewrite(world, 3, kFold, "plan-1");
  EXPECT_EQ(DeletesOf(world), 1U);
  Rewrite(world, 9, kFold, "plan-2");
  EXPECT_EQ(DeletesOf(world), 0U);
}

TEST(DeadDeletes, OldFileAddedMeanwhile_DeleteStays) {
  World world(2);
  world.Fill(6, 3);
  // Another rewriter put back a file that is as old as the rows in it.
  act::Rewrite foreign = world.PlanOf({world.RewriteOf(0, 2, {.row_maps = false})}, "foreign");
  world.Fail(world.table().AddEqualityDelete(0, {1, 4, 9}));
  act::RewriteGroup rest = world.RewriteOf(0, 9, kFold);
  std::erase_if(rest.removed, [&](const act::RemovedFile& file) {
    return std::ranges::any_of(foreign.groups[0].removed, [&](const auto& other) { return other.path == file.path; });
  });
  std::vector<Row> left;
  const Result<Contents> contents = world.table().ReadHead();
  std::int64_t deleted = 0;
  for (act::RemovedFile& file : rest.removed) {
    const LiveFile& live = contents->files.at(file.path);
    for (std::size_t i = 0; i < live.rows.size(); ++i) {
      if (live.visible[i]) left.push_back(live.rows[i]);
      if (!live.visible[i]) ++deleted;
    }
    file.row_map = nullptr;
  }
  rest.deleted_rows = deleted;
  const act::AddedFile added = world.WriteMerged(rest, left);
  rest.added[0].file = added.file;
  act::Rewrite own = world.PlanOf({std::move(rest)}, "own");
  const std::vector<Row> rows = world.Rows();
  ASSERT_TRUE(world.Run(std::move(foreign)).commit.status.has_value());
  ASSERT_TRUE(world.Run(std::move(own)).commit.status.has_value());
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(DeletesOf(world), 1U);
}

TEST(DeadDeletes, PositionDeletesOfSeveralFiles_GoWithTheLastOne) {
  World world(2);
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  world.Fail(world.table().AddPositionDeletes({{paths[0], 1}, {paths[3], 0}}, false));
  world.Fail(world.table().AddPositionDeletes({{paths[1], 2}}, true));
  world.Fail(world.table().AddPositionDeletes({{paths[2], 2}}, false));
  Rewrite(world, 2, kFold, "plan-1");
  // That of the second file is gone, that of the first one and another is still needed.
  EXPECT_EQ(DeletesOf(world), 2U);
  EXPECT_EQ(Summary(world, "removed-position-delete-files"), "1");
  EXPECT_EQ(Summary(world, "removed-position-deletes"), "1");
  Rewrite(world, 9, kFold, "plan-2");
  EXPECT_EQ(DeletesOf(world), 0U);
  EXPECT_EQ(Summary(world, "removed-delete-files"), "2");
}

TEST(DeadDeletes, VectorsInOnePuffinFile_OnlyThoseOfRewrittenFilesGo) {
  World world(3);
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  std::vector<Position> positions;
  for (const std::string& path : paths) positions.emplace_back(path, 1);
  world.Fail(world.table().AddVectors(positions));
  ASSERT_EQ(DeletesOf(world), paths.size());
  Rewrite(world, 2, kFold, "plan-1");
  EXPECT_EQ(DeletesOf(world), paths.size() - 2);
  EXPECT_EQ(Summary(world, "removed-dvs"), "2");
  EXPECT_EQ(Summary(world, "removed-delete-files"), "2");
  Rewrite(world, 99, kFold, "plan-2");
  EXPECT_EQ(DeletesOf(world), 0U);
}

TEST(DeadDeletes, EveryRowDeleted_FilesAndDeletesGo) {
  World world(3);
  ASSERT_TRUE(world.table().Append(0, {{1, 2}, {3}}).has_value());
  world.Fail(world.table().AddEqualityDelete(0, {1, 2, 3}));
  Rewrite(world, 9, kFold, "plan-1");
  EXPECT_EQ(world.Rows(), std::vector<Row>());
  EXPECT_EQ(DeletesOf(world), 0U);
  EXPECT_EQ(world.PathsOf(0), std::vector<std::string>());
}

}  // namespace
}  // namespace firn::sim
