// SPDX-License-Identifier: Apache-2.0
#include "simulate/spark_groups.h"

#include <gtest/gtest.h>

#include "simulate/trace_fixture.h"

namespace firn::simulate {
namespace {

using fixture::kMiB;
constexpr std::int64_t kTarget = 512 * kMiB;

StoredPartition Of(const std::vector<std::int64_t>& sizes_mib) {
  StoredPartition partition;
  for (const std::int64_t size : sizes_mib) {
    StoredFile file;
    file.size_bytes = size * kMiB;
    file.rows = 1000;
    file.id = partition.next_id++;
    partition.files.push_back(file);
  }
  return partition;
}

std::vector<Merge> Groups(const StoredPartition& partition) { return SparkGroups(partition, kTarget, {}); }

TEST(SparkGroups, FiveSmallFilesOrMoreThanTheTarget) {
  EXPECT_TRUE(Groups(Of({1, 1, 1, 1})).empty());
  ASSERT_EQ(Groups(Of({1, 1, 1, 1, 1})).size(), 1U);
  EXPECT_EQ(Groups(Of({1, 1, 1, 1, 1}))[0].outputs, 1);
  EXPECT_TRUE(Groups(Of({300, 200})).empty());
  EXPECT_EQ(Groups(Of({300, 300})).size(), 1U);
  EXPECT_TRUE(Groups(Of({300})).empty());
}

TEST(SparkGroups, FilesOfTheWantedSizeAreLeft) {
  EXPECT_TRUE(Groups(Of({384, 384, 400, 512, 900, 900})).empty());
  const auto groups = Groups(Of({384, 1, 2, 500, 3, 4, 5}));
  ASSERT_EQ(groups.size(), 1U);
  ASSERT_EQ(groups[0].inputs.size(), 5U);
  EXPECT_EQ(groups[0].inputs[0].id, 1U);
}

TEST(SparkGroups, LargeFilesAreSplitAndRestsSpread) {
  ASSERT_EQ(Groups(Of({1000})).size(), 1U);  // above 1.8 targets
  EXPECT_EQ(Groups(Of({1000}))[0].outputs, 2);
  EXPECT_EQ(Groups(Of({270, 270}))[0].outputs, 1);                      // 540: within a tenth of the target
  EXPECT_EQ(Groups(Of({300, 300}))[0].outputs, 2);                      // 600: more than a tenth above
  EXPECT_EQ(Groups(Of({250, 250, 250, 250, 250, 250}))[0].outputs, 3);  // 1500: the rest is 476
}

TEST(SparkGroups, ManyDeletedRowsAreAReason) {
  StoredPartition partition = Of({500, 500});
  partition.files[1].dead_rows = 299;
  EXPECT_TRUE(Groups(partition).empty());
  partition.files[1].dead_rows = 300;
  const auto groups = Groups(partition);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].inputs.size(), 1U);
  EXPECT_LT(groups[0].output_bytes, 360 * kMiB);
}

TEST(SparkGroups, OutputsFollowDecidesPrediction) {
  const auto groups = Groups(Of({10, 10, 10, 10, 10, 10}));
  EXPECT_EQ(groups[0].input_bytes, 60 * kMiB);
  EXPECT_LT(groups[0].output_bytes, 60 * kMiB);
  EXPECT_GT(groups[0].output_bytes, 50 * kMiB);
  EXPECT_GT(groups[0].seconds, 0.4);
}

}  // namespace
}  // namespace firn::simulate
