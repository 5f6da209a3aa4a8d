// SPDX-License-Identifier: Apache-2.0
#include "orient/delete_debt.h"

#include <gtest/gtest.h>

#include "orient/orient.h"

namespace firn::orient {
namespace {

observe::DataFileFacts FileOf(std::int64_t size, std::int64_t records, std::int64_t deleted,
                              std::uint32_t delete_files) {
  observe::DataFileFacts file;
  file.size_bytes = size;
  file.record_count = records;
  file.deleted_rows = deleted;
  file.delete_files = delete_files;
  return file;
}

TEST(DeleteDebt, LiveSize_IsTheShareOfLiveRows) {
  struct Case {
    std::int64_t size, records, deleted, live;
  };
  const Case cases[] = {{1000, 10, 0, 1000}, {1000, 10, 5, 500}, {1000, 10, 10, 0},   {1000, 10, 20, 0},
                        {1001, 2, 1, 501},   {1000, 0, 5, 1000}, {1000, 10, -3, 1000}};
  for (const Case& item : cases) {
    EXPECT_EQ(LiveSizeBytes(FileOf(item.size, item.records, item.deleted, 1)), item.live) << item.deleted;
  }
}

TEST(DeleteDebt, RatioOrNumberOfDeleteFiles_MakesARewriteDue) {
  const Policy policy;
  struct Case {
    std::int64_t deleted;
    std::uint32_t delete_files;
    bool due;
  };
  const Case cases[] = {{29, 1, false}, {30, 1, true}, {100, 1, true}, {0, 39, false}, {0, 40, true}, {0, 0, false}};
  for (const Case& item : cases) {
    EXPECT_EQ(IsFoldDue(FileOf(1000, 100, item.deleted, item.delete_files), policy), item.due)
        << item.deleted << ' ' << item.delete_files;
  }
}

TEST(DeleteDebt, NumberOfDeleteFiles_HasToPayForTheBytesUnlessTheOwnerSaysOtherwise) {
  constexpr std::int64_t kMiB = 1 << 20;
  struct Case {
    std::int64_t size;
    std::int32_t threshold;
    std::int64_t due;
  };
  const Case cases[] = {{0, 0, 40},           {80 * kMiB, 0, 40}, {82 * kMiB, 0, 41}, {128 * kMiB, 0, 64},
                        {512 * kMiB, 0, 256}, {512 * kMiB, 1, 1}, {1000, 500, 500},   {INT64_MAX, 0, INT64_MAX >> 21}};
  for (const Case& item : cases) {
    Policy policy;
    policy.delete_file_threshold = item.threshold;
    EXPECT_EQ(DeleteFilesDue(item.size, policy), item.due) << item.size << ' ' << item.threshold;
    if (item.due > UINT32_MAX) continue;
    const auto due = static_cast<std::uint32_t>(item.due);
    EXPECT_TRUE(IsFoldDue(FileOf(item.size, 100, 0, due), policy)) << item.size;
    EXPECT_FALSE(IsFoldDue(FileOf(item.size, 100, 0, due - 1), policy)) << item.size;
  }
}

TEST(Classify, LargeFileWithManyDeletedRows_IsFoldedOrBlocked) {
  Policy policy;
  policy.target_size_bytes = 1 << 20;
  policy.mergeable_flags = observe::kRewritableFlags;
  observe::DataFileFacts file = FileOf(10 << 20, 100, 40, 1);
  file.flags = observe::kHasDeletionVector;
  EXPECT_EQ(Classify(file, policy), FileClass::kFold);
  file.flags |= observe::kNotParquet;
  EXPECT_EQ(Classify(file, policy), FileClass::kBlocked);
  file.flags = observe::kHasDeletionVector;
  file.deleted_rows = 95;
  EXPECT_EQ(Classify(file, policy), FileClass::kSmall) << "its live rows are few";
  file.deleted_rows = 10;
  EXPECT_EQ(Classify(file, policy), FileClass::kHealthy);
  file.flags |= observe::kNotParquet;
  EXPECT_EQ(Classify(file, policy), FileClass::kHealthy);
}

}  // namespace
}  // namespace firn::orient
