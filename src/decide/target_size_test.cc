// SPDX-License-Identifier: Apache-2.0
#include "decide/target_size.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

observe::Facts MakeFacts(const std::vector<std::vector<std::int64_t>>& partitions) {
  observe::Facts facts;
  facts.snapshot_id = SnapshotId{77};
  for (const auto& sizes : partitions) {
    observe::PartitionFacts partition;
    partition.text = "p=" + std::to_string(facts.partitions.size());
    for (const std::int64_t size : sizes) {
      observe::DataFileFacts file;
      file.partition = static_cast<std::uint32_t>(facts.partitions.size());
      file.data_sequence_number = static_cast<std::int64_t>(facts.files.size());
      file.size_bytes = size;
      file.record_count = 1000;
      facts.files.push_back(file);
      ++partition.file_count;
      partition.size_bytes += size;
    }
    facts.partitions.push_back(partition);
  }
  return facts;
}

struct Analysis {
  std::vector<TargetCandidate> candidates;
  Advice advice;
};

Analysis Analyze(const observe::Facts& facts, std::int64_t target_bytes, const TargetOptions& options = {}) {
  orient::Policy policy;
  policy.target_size_bytes = target_bytes;
  Analysis analysis;
  for (const std::int64_t target : CandidateTargets(facts, target_bytes)) {
    auto candidate = EvaluateTarget(facts, policy, target, options);
    EXPECT_TRUE(candidate.has_value());
    analysis.candidates.push_back(*candidate);
  }
  analysis.advice =
      Advise(analysis.candidates, ReadNow(facts, options.read), static_cast<std::int64_t>(facts.files.size()));
  return analysis;
}

TargetOptions ObjectStore() {
  TargetOptions options;
  options.read.all.seconds_per_file = options.read.two.seconds_per_file = 0.06;
  return options;
}

TEST(TargetSize, Candidates_EndWithTheOneThatHoldsTheLargestPartition) {
  const auto facts = MakeFacts({{100 * kMiB}, {20 * kMiB, 20 * kMiB}});
  EXPECT_EQ(CandidateTargets(facts, 512 * kMiB),
            (std::vector<std::int64_t>{32 * kMiB, 64 * kMiB, 128 * kMiB, 512 * kMiB}));
  EXPECT_EQ(CandidateTargets(facts, 64 * kMiB), (std::vector<std::int64_t>{32 * kMiB, 64 * kMiB, 128 * kMiB}));
  EXPECT_EQ(CandidateTargets(MakeFacts({}), 5 * kMiB), (std::vector<std::int64_t>{5 * kMiB, 32 * kMiB}));
}

TEST(TargetSize, Evaluate_LargerTarget_NeverMoreFilesInTheEnd) {
  Random random(11);
  for (int round = 0; round < 30; ++round) {
    std::vector<std::vector<std::int64_t>> partitions(1 + random.Below(5));
    for (auto& sizes : partitions) {
      for (std::uint64_t i = 0; i < 1 + random.Below(60); ++i) {
        sizes.push_back(1 + static_cast<std::int64_t>(random.Below(40 * kMiB)));
      }
    }
    const auto analysis = Analyze(MakeFacts(partitions), 512 * kMiB);
    for (std::size_t i = 1; i < analysis.candidates.size(); ++i) {
      EXPECT_LE(analysis.candidates[i].lasting_files, analysis.candidates[i - 1].lasting_files);
      EXPECT_LE(analysis.candidates[i].files_after, static_cast<std::int64_t>(1000));
      EXPECT_GE(analysis.candidates[i].lasting_files, static_cast<std::int64_t>(partitions.size()));
    }
  }
}

TEST(TargetSize, Advise_ManySmallFiles_Merge) {
  const auto analysis = Analyze(MakeFacts({std::vector<std::int64_t>(2000, 100'000)}), 512 * kMiB);
  EXPECT_TRUE(analysis.advice.merge) << analysis.advice.merge_reason;
  EXPECT_FALSE(analysis.advice.change_target) << analysis.advice.target_reason;
  EXPECT_EQ(AdviceWord(analysis.advice), "merge");
  EXPECT_GT(analysis.advice.read_saved, 0.5);
  EXPECT_NE(analysis.advice.merge_reason.find("2,000 files become"), std::string::npos) << analysis.advice.merge_reason;
}

TEST(TargetSize, Advise_FewSmallFiles_SavesTooLittleTime) {
  const auto analysis = Analyze(MakeFacts({std::vector<std::int64_t>(12, 10'000)}), 512 * kMiB);
  EXPECT_GT(analysis.advice.read_saved, 0.5) << "most of the read, but of a short one";
  EXPECT_EQ(AdviceWord(analysis.advice), "leave") << analysis.advice.merge_reason;
  EXPECT_NE(analysis.advice.merge_reason.find("small"), std::string::npos) << analysis.advice.merge_reason;
}

TEST(TargetSize, Advise_GoodShape_Leave) {
  const auto analysis = Analyze(MakeFacts({std::vector<std::int64_t>(40, 500 * kMiB)}), 512 * kMiB);
  EXPECT_EQ(AdviceWord(analysis.advice), "leave") << analysis.advice.merge_reason << analysis.advice.target_reason;
  EXPECT_EQ(analysis.advice.target_size_bytes, 512 * kMiB);
}

TEST(TargetSize, Advise_EmptyTable_Leave) {
  const auto analysis = Analyze(MakeFacts({}), 512 * kMiB);
  EXPECT_EQ(AdviceWord(analysis.advice), "leave");
  EXPECT_NE(analysis.advice.merge_reason.find("no data files"), std::string::npos);
}

TEST(TargetSize, Advise_SmallTargetOnObjectStore_Larger) {
  const auto facts = MakeFacts({std::vector<std::int64_t>(3000, 32 * kMiB)});
  const auto far = Analyze(facts, 32 * kMiB, ObjectStore());
  EXPECT_TRUE(far.advice.change_target) << far.advice.target_reason;
  EXPECT_GE(far.advice.target_size_bytes, 256 * kMiB);
  EXPECT_TRUE(far.advice.merge) << far.advice.merge_reason;
  // The same files near by: opening them costs little beside their bytes.
  TargetOptions near;
  near.cost.size_exponent = 1;
  near.read.all.seconds_per_file = near.read.two.seconds_per_file = 0.0002;
  EXPECT_FALSE(Analyze(facts, 32 * kMiB, near).advice.change_target);
}

TEST(TargetSize, Advise_OthersReadAsFast_LessRewritingDecides) {
  TargetOptions options;
  options.read.two.seconds_per_file = 0.0001;
  options.ingest = {.commits = 1000, .files = 1000, .bytes = 1000 * kMiB, .days = 1};
  const auto analysis = Analyze(MakeFacts({std::vector<std::int64_t>(8, 4 * kGiB)}), 4 * kGiB, options);
  const auto& first = analysis.candidates.front();
  const auto& last = analysis.candidates.back();
  EXPECT_LT(first.rewrites_per_byte + 1, last.rewrites_per_byte);
  EXPECT_TRUE(analysis.advice.change_target) << analysis.advice.target_reason;
  EXPECT_LT(analysis.advice.target_size_bytes, 4 * kGiB);
}

TEST(TargetSize, Advise_GainBelowLimit_NothingChanges) {
  Random random(5);
  for (int round = 0; round < 300; ++round) {
    const auto seconds = [&] { return 1 + random.NextUnit() * 0.09; };
    std::vector<TargetCandidate> candidates(4);
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      candidates[i].target_size_bytes = static_cast<std::int64_t>(32 * kMiB << i);
      candidates[i].files_replaced = 100;
      candidates[i].lasting_read.two = seconds();
      candidates[i].read_after.two = seconds();
    }
    candidates[random.Below(4)].is_current = true;
    const Advice advice = Advise(candidates, {1.05, 1.05}, 200);
    EXPECT_EQ(AdviceWord(advice), "leave") << advice.merge_reason << advice.target_reason;
    EXPECT_FALSE(advice.merge_reason.empty());
    EXPECT_FALSE(advice.target_reason.empty());
  }
}

TEST(IngestRewrites, NoHistory_None) { EXPECT_EQ(*RewritesPerByte({}, {}, {}, kGiB), 0); }

TEST(IngestRewrites, BoundedByTheLogarithm) {
  CostModel cost;
  cost.size_exponent = 1;
  for (const std::int64_t target : {32 * kMiB, 128 * kMiB, 512 * kMiB}) {
    orient::Policy policy;
    policy.target_size_bytes = target;
    const IngestHistory history{.commits = 100, .files = 100, .bytes = 100 * kMiB, .days = 1};
    const double rewrites = *RewritesPerByte(history, policy, cost, 100 * kGiB);
    EXPECT_GT(rewrites, 0.5);
    EXPECT_LE(rewrites, std::log2(static_cast<double>(target) / kMiB) + 1) << target;
  }
}

TEST(IngestRewrites, LargeFiles_NotRewritten) {
  orient::Policy policy;
  policy.target_size_bytes = 64 * kMiB;
  EXPECT_EQ(*RewritesPerByte({.commits = 10, .files = 10, .bytes = 640 * kMiB, .days = 1}, policy, {}, 10 * kGiB), 0);
}

}  // namespace
}  // namespace firn::decide
