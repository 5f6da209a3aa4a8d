// SPDX-License-Identifier: Apache-2.0
//
// Position delete files whose rows name other data files than their manifest entries say: some readers go by the rows,
// others by the entry. Nothing may change for either.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "service/optimize.h"
#include "service/rewrite_deletes.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

Result<service::RewrittenDeletes> Rewrite(World& world) {
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  service::RewriteDeletesOptions options;
  options.rewrite.memory_bytes = 256 << 20;
  options.plan.min_input_files = 2;
  options.plan.own_file_ratio = 2;  // files of three rows are not all rewritten for one of them
  return world.AsProcess([&] { return service::RewriteDeletes(environment, SimTable::Id(), options); });
}

Result<service::Optimized> Optimize(World& world) {
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  service::OptimizeOptions options;
  options.rewrite.memory_bytes = 256 << 20;
  return world.AsProcess([&] { return service::Optimize(environment, SimTable::Id(), options); });
}

std::vector<std::string> DeletePaths(World& world) {
  std::vector<std::string> paths;
  for (const LiveFile& live : world.Head().deletes) paths.push_back(live.file.file_path);
  std::ranges::sort(paths);
  return paths;
}

std::optional<SnapshotId> HeadId(World& world) { return world.table().Load()->metadata->current_snapshot()->id; }

/// Rows that a reader sees that goes by the entries: those of a delete file that its bounds exclude do not count.
std::vector<Row> RowsByEntries(World& world) {
  const Contents head = world.Head();
  std::vector<Row> rows;
  for (const auto& [path, live] : head.files) {
    std::vector<bool> visible = live.visible;
    for (const LiveFile& deletes : head.deletes) {
      if (iceberg::KindOf(deletes.file) != iceberg::DeleteKind::kPositions) continue;
      if (iceberg::EntryAllows(deletes.file, path)) continue;
      const Result<Bytes> bytes = ports::ReadFile(*world.storage, deletes.file.file_path);
      const Result<std::vector<Position>> positions = ReadPositions(*bytes);
      for (const auto& [named, row] : *positions) {
        if (named == path) visible[static_cast<std::size_t>(row)] = true;
      }
    }
    for (std::size_t i = 0; i < visible.size(); ++i) {
      if (visible[i]) rows.push_back(live.rows[i]);
    }
  }
  std::ranges::sort(rows);
  return rows;
}

class StrayDeletesTest : public testing::TestWithParam<std::int32_t> {
 protected:
  /// Version 3 begins as 2, so that it has position deletes.
  void UpgradeIfWanted() {
    if (GetParam() >= 3) world.Fail(world.table().Upgrade());
  }
  void Remember() {
    rows = world.Rows();
    by_entries = RowsByEntries(world);
  }
  void ExpectSameRows() {
    EXPECT_EQ(world.Rows(), rows);
    EXPECT_EQ(RowsByEntries(world), by_entries);
    world.CheckSound();
    EXPECT_EQ(world.Orphans(), std::set<std::string>());
  }
  /// It stays with a reason, and a second run writes nothing.
  void ExpectStays(const std::string& delete_path) {
    ASSERT_EQ(std::ranges::count(DeletePaths(world), delete_path), 1);
    const std::optional<SnapshotId> head = HeadId(world);
    const Result<service::RewrittenDeletes> again = Rewrite(world);
    ASSERT_TRUE(again.has_value()) << ToString(again.error());
    ASSERT_EQ(again->outcome.failures.size(), 1U);
    EXPECT_EQ(again->outcome.failures[0].error.code, Code::kCorrupt);
    EXPECT_NE(again->outcome.failures[0].error.message.find(delete_path), std::string::npos);
    EXPECT_EQ(HeadId(world), head);
    ExpectSameRows();
  }

  World world{2};
  std::vector<Row> rows, by_entries;
};

TEST_P(StrayDeletesTest, BoundsNameOneFileAndRowsSeveral_DeleteFileStaysAndOthersGo) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0), others = world.PathsOf(1);
  world.Fail(world.table().AddPositionDeletesSaying({{paths[0], 1}, {paths[3], 0}}, paths[0], paths[0]));
  const std::string stray = DeletePaths(world).at(0);
  world.Fail(world.table().AddPositionDeletes({{paths[0], 2}}, true));
  world.Fail(world.table().AddPositionDeletes({{paths[4], 2}}, true));
  world.Fail(world.table().AddPositionDeletes({{others[0], 0}}, true));
  world.Fail(world.table().AddPositionDeletes({{others[1], 0}}, true));
  UpgradeIfWanted();
  Remember();
  ASSERT_NE(rows, by_entries);
  const Result<service::RewrittenDeletes> done = Rewrite(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_EQ(done->outcome.files_kept, GetParam() >= 3 ? 2 : 1);  // a vector would have to hold all of its data file
  EXPECT_EQ(done->outcome.position_files_removed, GetParam() >= 3 ? 3 : 4);
  ExpectSameRows();
  ExpectStays(stray);
}

TEST_P(StrayDeletesTest, BoundsOfARangeExcludeAPath_DeleteFileStays) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  world.Fail(world.table().AddPositionDeletesSaying({{paths[0], 1}, {paths[1], 1}, {paths[5], 0}}, paths[0], paths[3]));
  const std::string stray = DeletePaths(world).at(0);
  world.Fail(world.table().AddPositionDeletes({{paths[0], 2}, {paths[2], 2}}, false));
  UpgradeIfWanted();
  Remember();
  ASSERT_TRUE(Rewrite(world).has_value());
  ExpectSameRows();
  ExpectStays(stray);
}

TEST_P(StrayDeletesTest, RowsOfAnotherPartition_DeleteFileStays) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0), others = world.PathsOf(1);
  world.Fail(world.table().AddPositionDeletesSaying({{paths[0], 1}, {others[0], 0}}, "", ""));
  const std::string stray = DeletePaths(world).at(0);
  world.Fail(world.table().AddPositionDeletes({{paths[0], 2}, {paths[2], 2}}, false));
  UpgradeIfWanted();
  Remember();
  ASSERT_TRUE(Rewrite(world).has_value());
  ExpectSameRows();
  ExpectStays(stray);
}

TEST_P(StrayDeletesTest, OtherFileIsGone_DeleteFileGoes) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  world.Fail(world.table().AddPositionDeletesSaying({{paths[0], 1}, {paths[3], 0}}, paths[0], paths[0]));
  world.Fail(world.table().AddPositionDeletes({{paths[0], 2}}, true));
  world.Fail(world.table().RemoveFile(paths[3]));
  UpgradeIfWanted();
  Remember();
  const Result<service::RewrittenDeletes> done = Rewrite(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_TRUE(done->outcome.failures.empty());
  EXPECT_EQ(done->outcome.position_files_removed, 2);
  ExpectSameRows();
}

TEST_P(StrayDeletesTest, NamedFileIsGone_DeleteFileStaysForTheOther) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  world.Fail(world.table().AddPositionDeletesSaying({{paths[0], 1}, {paths[3], 0}}, paths[0], paths[0]));
  const std::string stray = DeletePaths(world).at(0);
  world.Fail(world.table().RemoveFile(paths[0]));
  UpgradeIfWanted();
  Remember();
  ExpectStays(stray);
  EXPECT_EQ(DeletePaths(world), std::vector<std::string>{stray});
}

TEST_P(StrayDeletesTest, FileIsAddedAgainMeanwhile_DeleteFileStays) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  world.Fail(world.table().AddPositionDeletesSaying({{paths[3], 0}, {paths[0], 0}}, paths[0], paths[0]));
  const std::string stray = DeletePaths(world).at(0);
  world.Fail(world.table().AddPositionDeletes({{paths[0], 1}}, true));
  UpgradeIfWanted();
  world.Fail(world.table().RemoveFile(paths[3]));
  bool acted = false;
  world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
    if (acted || event.operation != ports::IoOperation::kCommitTable) return;
    acted = true;
    world.Fail(world.table().AddAgain(paths[3]));
    Remember();
  };
  ASSERT_TRUE(Rewrite(world).has_value());
  world.intrude = nullptr;
  ASSERT_TRUE(acted);
  ExpectSameRows();
  EXPECT_EQ(std::ranges::count(DeletePaths(world), stray), 1);
}

TEST_P(StrayDeletesTest, Optimize_LeavesTheFilesAlone) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  world.Fail(world.table().AddPositionDeletesSaying({{paths[0], 1}, {paths[0], 2}, {paths[3], 0}}, paths[0], paths[0]));
  const std::string stray = DeletePaths(world).at(0);
  UpgradeIfWanted();
  Remember();
  const Result<service::Optimized> done = Optimize(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_EQ(std::ranges::count(DeletePaths(world), stray), 1);
  EXPECT_TRUE(world.Head().files.contains(paths[0]));
  EXPECT_TRUE(world.Head().files.contains(paths[3]));
  ExpectSameRows();
  EXPECT_LT(world.PathsOf(0).size(), paths.size());
  ASSERT_FALSE(done->outcome.failures.empty());
  EXPECT_EQ(done->outcome.failures[0].error.code, Code::kCorrupt);
}

/// Another writer's merge of the file that the entry names: the delete file goes only if its other rows do.
TEST_P(StrayDeletesTest, NamedFileIsMergedWhileDeletesArrive_DeleteFileStays) {
  world.Fill(6, 3);
  const std::vector<std::string> paths = world.PathsOf(0);
  act::Rewrite rewrite = world.PlanOf({world.RewriteOf(0, 3, {})});
  world.Fail(world.table().AddPositionDeletesSaying({{paths[0], 1}, {paths[5], 0}}, paths[0], paths[0]));
  const std::string stray = DeletePaths(world).at(0);
  Remember();
  const RewriteReport report = world.Run(std::move(rewrite));
  ASSERT_TRUE(report.commit.status.has_value()) << ToString(report.commit.status.error());
  EXPECT_EQ(std::ranges::count(DeletePaths(world), stray), 1);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(RowsByEntries(world), by_entries);
}

INSTANTIATE_TEST_SUITE_P(Formats, StrayDeletesTest, testing::Values(2, 3),
                         [](const auto& param) { return "V" + std::to_string(param.param); });

}  // namespace
}  // namespace firn::sim
