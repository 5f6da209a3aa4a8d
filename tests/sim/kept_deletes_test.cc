// SPDX-License-Identifier: Apache-2.0
//
// Deletes that have to stay because a file is missing or broken: nothing is written for them, neither now nor by the
// next run, and everything else goes.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "service/rewrite_deletes.h"
#include "sim/world.h"

namespace firn::sim {
namespace {

Result<service::RewrittenDeletes> Rewrite(World& world) {
  act::CommitEnvironment environment = world.Environment(*world.catalog);
  service::RewriteDeletesOptions options;
  options.rewrite.memory_bytes = 256 << 20;
  options.rewrite.batch_files_max = 2;
  options.plan.min_input_files = 100;  // what one run writes in several batches is not merged by the next
  return world.AsProcess([&] { return service::RewriteDeletes(environment, SimTable::Id(), options); });
}

class KeptDeletesTest : public testing::TestWithParam<std::int32_t> {
 protected:
  SnapshotId HeadId() { return world.table().Load()->metadata->current_snapshot()->id; }
  /// Live delete files: the equality deletes, and the others of partition 0.
  std::vector<std::string> Equality() {
    std::vector<std::string> paths;
    for (const LiveFile& live : world.Head().deletes) {
      if (live.file.content == iceberg::FileContent::kEqualityDeletes) paths.push_back(live.file.file_path);
    }
    std::ranges::sort(paths);
    return paths;
  }
  std::int64_t PositionsOfPartition0() {
    std::int64_t rows = 0;
    for (const LiveFile& live : world.Head().deletes) {
      const bool is_equality = live.file.content == iceberg::FileContent::kEqualityDeletes;
      if (!is_equality && std::get<std::int32_t>(live.file.partition.values.at(0)) == 0) rows += live.file.record_count;
    }
    return rows;
  }
  std::string NewestEquality(const std::vector<std::string>& before) {
    for (const std::string& path : Equality()) {
      if (!std::ranges::binary_search(before, path)) return path;
    }
    return "";
  }
  /// Runs `work` while the file is not in storage.
  template <class Work>
  auto Without(const std::string& path, Work work) {
    const Result<Bytes> bytes = ports::ReadFile(*world.storage, path);
    EXPECT_TRUE(bytes.has_value());
    world.Fail(world.storage->Delete(path));
    auto result = work();
    world.storage->Put(path, *bytes);
    return result;
  }

  World world{GetParam()};
};

TEST_P(KeptDeletesTest, DataFileIsMissing_OnlyDeletesThatDoNotReachItAreConverted) {
  world.Fill(12, 3);
  world.Fail(world.table().AddEqualityDelete(0, {0, 1, 4, 9}));
  const std::vector<std::string> old = Equality();
  const auto appended = world.table().Append(0, {{2, 7001}});
  ASSERT_TRUE(appended.has_value());
  world.Fail(world.table().AddEqualityDelete(0, {2, 3, 10, 7001}));
  const std::string kept = NewestEquality(old);
  world.Fail(world.table().AddEqualityDelete(1, {40, 41}));
  const std::vector<Row> rows = world.Rows();
  const Result<service::RewrittenDeletes> done = Without(appended->at(0), [&] { return Rewrite(world); });
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  ASSERT_EQ(done->outcome.failures.size(), 1U);
  EXPECT_EQ(done->outcome.failures[0].error.code, Code::kNotFound);
  EXPECT_EQ(done->outcome.failures[0].files, 1);
  EXPECT_EQ(done->outcome.files_kept, 1);
  EXPECT_EQ(done->outcome.equality_files_removed, 2);
  EXPECT_EQ(Equality(), std::vector<std::string>{kept});
  EXPECT_EQ(PositionsOfPartition0(), 4);  // of the first delete file only
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());

  const SnapshotId head = HeadId();
  const Result<service::RewrittenDeletes> again = Without(appended->at(0), [&] { return Rewrite(world); });
  ASSERT_TRUE(again.has_value()) << ToString(again.error());
  ASSERT_EQ(again->outcome.failures.size(), 1U);
  EXPECT_NE(again->outcome.failures[0].error.message.find(appended->at(0)), std::string::npos);
  EXPECT_EQ(HeadId(), head);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
  ASSERT_TRUE(Rewrite(world).has_value());
  EXPECT_TRUE(Equality().empty());
  EXPECT_EQ(world.Rows(), rows);
}

TEST_P(KeptDeletesTest, EqualityDeletesAreMissing_OthersOfThePartitionGoAndEachHasOneLine) {
  world.Fill(6, 3);
  std::vector<std::string> gone;
  for (const std::vector<std::int64_t>& ids : {std::vector<std::int64_t>{0, 4}, {1, 9}, {2, 3}}) {
    const std::vector<std::string> before = Equality();
    world.Fail(world.table().AddEqualityDelete(0, ids));
    gone.push_back(NewestEquality(before));
  }
  gone.pop_back();
  const std::vector<Row> rows = world.Rows();
  const Result<service::RewrittenDeletes> done =
      Without(gone[0], [&] { return Without(gone[1], [&] { return Rewrite(world); }); });
  ASSERT_TRUE(done.has_value()) << ToString(done.error());
  EXPECT_EQ(done->outcome.failures.size(), 2U);
  EXPECT_EQ(done->outcome.equality_files_removed, 1);
  std::ranges::sort(gone);
  EXPECT_EQ(Equality(), gone);
  EXPECT_EQ(PositionsOfPartition0(), 2);
  EXPECT_EQ(world.Rows(), rows);
  EXPECT_EQ(world.Orphans(), std::set<std::string>());
}

INSTANTIATE_TEST_SUITE_P(Formats, KeptDeletesTest, testing::Values(2, 3),
                         [](const auto& param) { return "V" + std::to_string(param.param); });

}  // namespace
}  // namespace firn::sim
