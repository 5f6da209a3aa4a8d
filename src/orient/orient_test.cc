// SPDX-License-Identifier: Apache-2.0
#include "orient/orient.h"

#include <gtest/gtest.h>

#include <vector>

#include "orient/health_score.h"

namespace firn::orient {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// One list of sizes a partition.
observe::Facts MakeFacts(const std::vector<std::vector<std::int64_t>>& partitions) {
  observe::Facts facts;
  facts.table = "db.t";
  for (const auto& sizes : partitions) {
    const auto index = static_cast<std::uint32_t>(facts.partitions.size());
    observe::PartitionFacts partition;
    partition.file_count = static_cast<std::int64_t>(sizes.size());
    facts.partitions.push_back(partition);
    for (std::int64_t size : sizes) {
      observe::DataFileFacts file;
      file.partition = index;
      file.ordinal = static_cast<std::uint32_t>(facts.files.size());
      file.size_bytes = size;
      file.record_count = 10;
      facts.files.push_back(file);
    }
  }
  return facts;
}

Policy SmallTarget() {
  Policy policy;
  policy.target_size_bytes = 100 * kMiB;
  return policy;
}

TEST(Diagnose, EmptyTable_IsHealthy) {
  const Diagnosis d = Diagnose({}, SmallTarget());
  EXPECT_EQ(d.file_count, 0);
  EXPECT_DOUBLE_EQ(d.score, 100);
  EXPECT_TRUE(d.partitions.empty());
}

TEST(Diagnose, CountsAndOrdersPartitions) {
  auto facts = MakeFacts({{80 * kMiB, 120 * kMiB}, std::vector<std::int64_t>(20, kMiB), {kMiB}, {kMiB, 2 * kMiB}, {}});
  const Diagnosis d = Diagnose(facts, SmallTarget());
  EXPECT_EQ(d.healthy_size_bytes, 75 * kMiB);
  EXPECT_EQ(d.file_count, 25);
  EXPECT_EQ(d.small_files, 23);
  EXPECT_EQ(d.small_bytes, 24 * kMiB);
  EXPECT_EQ(d.removable_files, 19 + 0 + 1);
  ASSERT_EQ(d.partitions.size(), 4U);
  EXPECT_EQ(d.partitions[0].partition, 1U);
  EXPECT_EQ(d.partitions[0].removable_files, 19);
  EXPECT_EQ(d.partitions[1].partition, 3U);
  // One small file: much error, nothing to gain.
  EXPECT_EQ(d.partitions[2].partition, 2U);
  EXPECT_EQ(d.partitions[2].removable_files, 0);
  EXPECT_DOUBLE_EQ(d.partitions[2].avoidable_error, 0);
  EXPECT_GT(d.partitions[2].size_mse, 0);
  EXPECT_EQ(d.partitions[3].partition, 0U);
  EXPECT_DOUBLE_EQ(d.partitions[3].size_mse, 0.5 * (20.0 * kMiB) * (20.0 * kMiB));
}

TEST(Diagnose, FlaggedFiles_AreBlockedUnlessThePolicyAllows) {
  auto facts = MakeFacts({std::vector<std::int64_t>(10, kMiB)});
  facts.files[3].flags = observe::kHasPositionDeletes;
  facts.files[4].flags = observe::kHasPositionDeletes | observe::kEncrypted;
  Policy policy = SmallTarget();
  policy.mergeable_flags = 0;
  Diagnosis d = Diagnose(facts, policy);
  EXPECT_EQ(d.small_files, 8);
  EXPECT_EQ(d.blocked_files, 2);
  policy.mergeable_flags = observe::kHasPositionDeletes;
  d = Diagnose(facts, policy);
  EXPECT_EQ(d.small_files, 9);
  EXPECT_EQ(d.blocked_files, 1);
}

TEST(ScoreHealth, OneSmallFileEach_HasFullScore) {
  const Diagnosis d = Diagnose(MakeFacts({{kMiB}, {3 * kMiB}, {99 * kMiB}}), SmallTarget());
  EXPECT_DOUBLE_EQ(d.score, 100);
}

TEST(ScoreHealth, ThousandTinyFiles_ScoreLowAndSayWhy) {
  const Diagnosis d = Diagnose(MakeFacts({std::vector<std::int64_t>(1000, 100 * 1024)}), SmallTarget());
  ASSERT_EQ(d.parts.size(), 5U);
  EXPECT_LT(d.parts[0].score, 2);
  EXPECT_LT(d.parts[1].score, 2);
  EXPECT_EQ(d.parts[1].reason, "1,000 files; 1 would hold the same");
  EXPECT_LT(d.score, 45);
  EXPECT_GT(d.score, 35);
}

TEST(ScoreHealth, MoreRemovableFiles_NeverRaiseIt) {
  double before = 101;
  for (std::size_t count = 1; count < 3000; count = count * 3 / 2 + 1) {
    std::vector<std::int64_t> sizes(500, 100 * kMiB);
    sizes.insert(sizes.end(), count, kMiB / 2);
    const double score = Diagnose(MakeFacts({sizes}), SmallTarget()).score;
    EXPECT_LE(score, before) << count;
    before = score;
  }
}

TEST(ScoreHealth, EveryPart_FallsWithItsMeasure) {
  for (double x = 0; x < 50; x += 0.5) {
    EXPECT_GE(FileSizeScore(x, 60), FileSizeScore(x + 0.5, 60));
    EXPECT_GE(SmallFilesScore(x, 60), SmallFilesScore(x + 0.5, 60));
    EXPECT_GT(DeletesScore(x, 1, 1), DeletesScore(x + 0.5, 1, 1));
    EXPECT_GT(DeletesScore(0.1, x, 1), DeletesScore(0.1, x + 0.5, 1));
    EXPECT_GT(DeletesScore(0.1, 1, x), DeletesScore(0.1, 1, x + 0.5));
    EXPECT_GE(ManifestsScore(x, 2), ManifestsScore(x + 0.5, 2));
    EXPECT_GE(SnapshotsScore(50 + x * 4), SnapshotsScore(52 + x * 4));
  }
  for (double x : {0.0, 1.0, 1e3, 1e9}) {
    for (double score :
         {FileSizeScore(x, 1), SmallFilesScore(x, 1), DeletesScore(1, x, x), ManifestsScore(x, 1), SnapshotsScore(x)}) {
      EXPECT_GE(score, 0);
      EXPECT_LE(score, 100);
    }
  }
}

TEST(ScoreHealth, Deletes_AreNamed) {
  auto facts = MakeFacts({{100 * kMiB}});
  facts.position_delete_files = 3;
  facts.equality_delete_files = 1;
  facts.partitions[0].deleted_rows_max = 5;
  const Diagnosis d = Diagnose(facts, SmallTarget());
  EXPECT_LT(d.parts[2].score, 50);
  EXPECT_EQ(d.parts[2].reason,
            "3 position delete files, 0 deletion vectors, 1 equality delete file; up to 50.0 % of the rows are "
            "deleted by position");
}

}  // namespace
}  // namespace firn::orient
