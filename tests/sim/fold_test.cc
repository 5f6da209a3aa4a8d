// SPDX-License-Identifier: Apache-2.0
//
// The whole chain on tables with deletes: rows stay as they were, deletes go with the rows that they deleted, row ids
// are kept.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "iceberg/literal.h"
#include "service/optimize.h"
#include "service/rewrite_deletes.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

using Lineage = std::map<Row, std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>>;

Result<service::Optimized> Optimize(World& world) {
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  service::OptimizeOptions options;
  options.rewrite.memory_bytes = 256 << 20;
  return world.AsProcess([&] { return service::Optimize(environment, SimTable::Id(), options); });
}

/// Row id and last update of every visible row, as the specification has readers find them.
Lineage LineageOf(World& world) {
  Lineage lineage;
  for (const auto& [path, live] : world.Head().files) {
    const Result<Bytes> bytes = ports::ReadFile(*world.storage, path);
    const Result<std::vector<StoredLineage>> stored =
        bytes ? ReadLineage(*bytes) : Result<std::vector<StoredLineage>>(bytes.error());
    if (!stored) {
      world.Fail(stored.error());
      continue;
    }
    for (std::size_t i = 0; i < live.rows.size(); ++i) {
      if (!live.visible[i]) continue;
      auto& [id, updated] = lineage[live.rows[i]];
      if (!live.file.first_row_id) continue;
      const StoredLineage& row = (*stored)[i];
      id = row.row_id ? *row.row_id : *live.file.first_row_id + static_cast<std::int64_t>(i);
      updated = row.sequence_number ? *row.sequence_number : live.sequence_number;
    }
  }
  return lineage;
}

Status DeletePositions(World& world, const std::vector<Position>& positions) {
  const Result<ports::LoadedTable> table = world.table().Load();
  if (table->metadata->format_version() >= 3) return world.table().AddVectors(positions);
  return world.table().AddPositionDeletes(positions, false);
}

/// Two partitions with twelve files, and deletes of every kind in both.
void FillWithDeletes(World& world) {
  world.Fill(6, 3);
  const std::vector<std::string> first = world.PathsOf(0), second = world.PathsOf(1);
  world.Fail(DeletePositions(world, {{first[0], 0}, {first[0], 2}, {first[3], 1}}));
  world.Fail(DeletePositions(world, {{second[5], 0}, {second[5], 1}, {second[5], 2}}));
  // A key comes back after it was deleted, and must not be deleted again.
  const std::int64_t key = world.Head().files.at(first[1]).rows[0].id;
  world.Fail(world.table().AddEqualityDelete(0, {key, 999}));
  ASSERT_TRUE(world.table().Append(0, {{key}}).has_value());
  world.Fail(DeletePositions(world, {{first[3], 0}}));
}

/// Bounds of the ids are those of the rows that are left.
void CheckBounds(World& world) {
  const iceberg::Type long_type{.kind = iceberg::TypeKind::kLong};
  for (const auto& [path, live] : world.Head().files) {
    const auto ids = std::ranges::minmax(live.rows, {}, &Row::id);
    ASSERT_FALSE(live.file.lower_bounds.empty()) << path;
    ASSERT_EQ(live.file.lower_bounds[0].first, 1) << path;
    EXPECT_EQ(live.file.lower_bounds[0].second, iceberg::EncodeBound(long_type, ids.min.id)) << path;
    EXPECT_EQ(live.file.upper_bounds[0].second, iceberg::EncodeBound(long_type, ids.max.id)) << path;
  }
}

class FoldTest : public testing::TestWithParam<std::int32_t> {};

TEST_P(FoldTest, DeletesOfAllKinds_GoAndRowsStay) {
  World world(GetParam());
  FillWithDeletes(world);
  const std::vector<Row> rows = world.Rows();
  const Lineage lineage = LineageOf(world);
  const Result<service::Optimized> done = Optimize(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_TRUE(done->outcome.failures.empty());
  EXPECT_EQ(done->outcome.deleted_rows, 8);
  const Contents head = world.Head();
  EXPECT_EQ(head.files.size(), 2U);
  EXPECT_EQ(head.deletes.size(), 0U);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(LineageOf(world), lineage);
  CheckBounds(world);
  if (GetParam() >= 3) {
    EXPECT_NE(lineage.begin()->second.first, std::nullopt);
  }
  world.CheckSound();
  EXPECT_EQ(world.Orphans(), std::set<std::string>());

  const Result<service::Optimized> again = Optimize(world);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->rounds, 0);
}

TEST_P(FoldTest, EveryRowOfAPartitionDeleted_ItsFilesGo) {
  World world(GetParam());
  world.Fill(6, 3);
  std::vector<Position> all;
  for (const std::string& path : world.PathsOf(1)) all.insert(all.end(), {{path, 0}, {path, 1}, {path, 2}});
  world.Fail(DeletePositions(world, all));
  const std::vector<Row> rows = world.Rows();
  const Lineage lineage = LineageOf(world);
  const Result<service::Optimized> done = Optimize(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_TRUE(done->outcome.failures.empty());
  const Contents head = world.Head();
  EXPECT_EQ(head.files.size(), 1U);
  EXPECT_EQ(head.deletes.size(), 0U);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(LineageOf(world), lineage);
  world.CheckSound();
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST_P(FoldTest, MoreDeletesWhileItRuns_BothHold) {
  World world(GetParam());
  FillWithDeletes(world);
  std::vector<Row> rows;
  Lineage lineage;
  bool changed = false;
  world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
    if (changed || event.operation != ports::IoOperation::kCommitTable) return;
    changed = true;
    const std::vector<std::string> paths = world.PathsOf(0);
    const Contents head = world.Head();
    world.Fail(DeletePositions(world, {{paths[0], 1}, {paths[2], 2}}));
    world.Fail(world.table().AddEqualityDelete(0, {head.files.at(paths[1]).rows[1].id}));
    ASSERT_TRUE(world.table().Append(0, {{head.files.at(paths[1]).rows[1].id, 5000}}).has_value());
    rows = world.Rows();
    lineage = LineageOf(world);
  };
  const Result<service::Optimized> done = Optimize(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  ASSERT_TRUE(changed);
  EXPECT_TRUE(done->outcome.failures.empty());
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(LineageOf(world), lineage);
  world.CheckSound();
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

TEST_P(FoldTest, DeleteFileThatIsGone_LeavesItsFilesAlone) {
  World world(GetParam());
  FillWithDeletes(world);
  const std::vector<Row> rows = world.Rows();
  const std::string path = world.PathsOf(1)[5];
  const Contents before = world.Head();
  const std::string gone = before.files.at(path).deletes.at(0).path;
  const Result<Bytes> bytes = ports::ReadFile(*world.storage, gone);
  ASSERT_TRUE(bytes.has_value() && world.storage->Delete(gone).has_value());
  const Result<service::Optimized> done = Optimize(world);
  world.storage->Put(gone, *bytes);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  ASSERT_GE(done->outcome.failures.size(), 1U);
  EXPECT_EQ(done->outcome.failures[0].error.code, Code::kNotFound);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_TRUE(world.Head().files.contains(path));
  world.CheckSound();
}

TEST_P(FoldTest, ProcessDiesAtSomeCall_NextRunCompletes) {
  World counted(GetParam());
  FillWithDeletes(counted);
  counted.injector.Reset();
  ASSERT_TRUE(Optimize(counted).has_value());
  const std::int64_t calls = counted.injector.call_count();
  for (std::int64_t k = 1; k <= calls; k += 3) {
    World world(GetParam());
    FillWithDeletes(world);
    const std::vector<Row> rows = world.Rows();
    const Lineage lineage = LineageOf(world);
    world.injector.Reset();
    world.injector.CrashAt(k, k % 2 == 0);
    (void)Optimize(world).has_value();
    SCOPED_TRACE(testing::Message() << "call " << k << " of " << calls);
    world.injector.Reset();
    world.CheckSound();
    ASSERT_EQ(world.Rows(), rows);
    const Result<service::Optimized> done = Optimize(world);
    ASSERT_TRUE(done.has_value()) << ToString(done.error());
    ASSERT_EQ(world.Rows(), rows);
    ASSERT_EQ(LineageOf(world), lineage);
    EXPECT_EQ(world.Head().files.size(), 2U);
    EXPECT_EQ(world.Head().deletes.size(), 0U);
  }
}

/// Entries of shared files do not tell how many rows of a data file are deleted; those of files of their own do.
TEST(Fold, ManyRowsDeletedBySharedFiles_AreSeenOnceDeletesWereRewritten) {
  World world(2);
  const auto paths =
      world.table().Append(0, {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11, 12, 13, 14, 15, 16, 17, 18, 19}});
  ASSERT_TRUE(paths.has_value());
  const std::string &many = paths->at(0), &few = paths->at(1);
  world.Fail(world.table().AddPositionDeletes({{many, 0}, {many, 1}, {few, 0}}, false));
  world.Fail(world.table().AddPositionDeletes({{many, 5}, {many, 8}, {few, 3}}, false));
  const std::vector<Row> rows = world.Rows();
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  service::OptimizeOptions folding;
  folding.rewrite.memory_bytes = 256 << 20;
  folding.assess.policy.min_input_files = 100;  // nothing is merged for its size
  const auto unseen = service::Optimize(environment, SimTable::Id(), folding);
  ASSERT_TRUE(unseen.has_value()) << ToString(unseen.error());
  ASSERT_EQ(unseen->rounds, 0);

  service::RewriteDeletesOptions options;
  options.rewrite.memory_bytes = 256 << 20;
  options.plan.min_input_files = 2;
  const auto merged = service::RewriteDeletes(environment, SimTable::Id(), options);
  ASSERT_TRUE(merged.has_value()) << ToString(merged.error());
  EXPECT_EQ(merged->outcome.position_files_removed, 2);
  EXPECT_EQ(merged->outcome.position_files_added, 2);
  EXPECT_EQ(world.Rows(), rows);
  const auto again = service::RewriteDeletes(environment, SimTable::Id(), options);
  ASSERT_TRUE(again.has_value() && again->rounds == 0);

  const auto folded = service::Optimize(environment, SimTable::Id(), folding);
  ASSERT_TRUE(folded.has_value()) << ToString(folded.error());
  EXPECT_EQ(folded->outcome.deleted_rows, 4);
  const Contents head = world.Head();
  EXPECT_FALSE(head.files.contains(many));
  EXPECT_TRUE(head.files.contains(few));
  EXPECT_EQ(head.deletes.size(), 1U);
  EXPECT_EQ(world.Rows(), rows);
  world.CheckSound();
}

TEST(Fold, RowIdsAssignedDuringTheWork_PlannedAgainAndKept) {
  World world(2);
  world.Fill(6, 3);
  world.Fail(world.table().Upgrade());
  EXPECT_EQ(LineageOf(world).begin()->second.first, std::nullopt);
  Lineage lineage;
  world.intrude = [&](std::int64_t, const ports::IoEvent& event) {
    if (!lineage.empty() || event.operation != ports::IoOperation::kCommitTable) return;
    // The first snapshot of version 3 gives all rows their ids.
    ASSERT_TRUE(world.table().Append(0, {{5000}}).has_value());
    lineage = LineageOf(world);
  };
  const Result<service::Optimized> done = Optimize(world);
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  ASSERT_FALSE(lineage.empty());
  EXPECT_NE(lineage.begin()->second.first, std::nullopt);
  EXPECT_TRUE(done->outcome.failures.empty());
  EXPECT_EQ(done->rounds, 2);
  EXPECT_EQ(world.Head().files.size(), 2U);
  EXPECT_EQ(LineageOf(world), lineage);
  world.CheckSound();
}

TEST(Fold, RowIdsThatNobodyAssigned_AreAssignedByTheRewrite) {
  World world(2);
  world.Fill(6, 3);
  world.Fail(world.table().Upgrade());
  const std::vector<Row> rows = world.Rows();
  ASSERT_TRUE(Optimize(world).has_value());
  EXPECT_EQ(world.Rows(), rows);
  std::set<std::int64_t> ids;
  for (const auto& [row, stored] : LineageOf(world)) ids.insert(stored.first.value_or(-1));
  EXPECT_EQ(ids.size(), rows.size());
  EXPECT_GE(*ids.begin(), 0);
}

INSTANTIATE_TEST_SUITE_P(Versions, FoldTest, testing::Values(2, 3),
                         [](const auto& tested) { return "V" + std::to_string(tested.param); });

}  // namespace
}  // namespace firn::sim
