// SPDX-License-Identifier: Apache-2.0
#include "decide/earlier_runs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "decide/cost_correction.h"
#include "decide/target_size.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr std::int64_t kMiB = 1 << 20;

MergeRun RunAt(double hour, std::vector<std::string> partitions, std::int64_t bytes = 100 * kMiB, double seconds = 2) {
  return {.ended_at = TimestampMs{static_cast<std::int64_t>(hour * kHourMs)},
          .bytes = bytes,
          .seconds = seconds,
          .predicted_seconds = seconds / 2,
          .partitions = std::move(partitions)};
}

std::vector<MergeRun> Hourly(int count) {
  std::vector<MergeRun> runs;
  for (int i = 0; i < count; ++i) runs.push_back(RunAt(i, {"p=1"}));
  return runs;
}

TEST(EarlierRuns, SumUp_RateAndTimeUntilMergedAgain) {
  const EarlierRuns sum = SumUp(Hourly(25));
  EXPECT_EQ(sum.runs, 25);
  EXPECT_TRUE(sum.says_cost());
  EXPECT_DOUBLE_EQ(sum.bytes_per_second(), 50.0 * kMiB);
  EXPECT_DOUBLE_EQ(sum.days, 1);
  EXPECT_EQ(sum.later_bytes, 2400 * kMiB);
  EXPECT_EQ(sum.merged_again, 24);
  ASSERT_TRUE(sum.lasting_days.has_value());
  EXPECT_NEAR(*sum.lasting_days, 1.0 / 24, 1e-9);
}

TEST(EarlierRuns, SumUp_OrderDoesNotMatter) {
  std::vector<MergeRun> runs = Hourly(9);
  const EarlierRuns sum = SumUp(runs);
  std::ranges::reverse(runs);
  const EarlierRuns reversed = SumUp(runs);
  EXPECT_EQ(sum.lasting_days, reversed.lasting_days);
  EXPECT_EQ(sum.later_bytes, reversed.later_bytes);
}

TEST(EarlierRuns, SumUp_OtherPartitions_AreNotMergedAgain) {
  std::vector<MergeRun> runs;
  for (int i = 0; i < 30; ++i) runs.push_back(RunAt(i, {"day=" + std::to_string(i)}));
  const EarlierRuns sum = SumUp(runs);
  EXPECT_EQ(sum.merged_again, 0);
  EXPECT_FALSE(sum.lasting_days.has_value());
}

TEST(EarlierRuns, SumUp_PiecesOfAMerge_AreOne) {
  std::vector<MergeRun> runs;
  for (int i = 0; i < 30; ++i) runs.push_back(RunAt(i / 60.0, {"p=1"}));
  EXPECT_EQ(SumUp(runs).merged_again, 0);
}

TEST(EarlierRuns, FewOrTinyRuns_SayNothing) {
  EXPECT_FALSE(SumUp(std::vector<MergeRun>{}).says_cost());
  EXPECT_FALSE(SumUp(Hourly(2)).says_cost());
  const std::vector<MergeRun> tiny(5, RunAt(0, {"p=1"}, 1000, 0.001));
  EXPECT_FALSE(SumUp(tiny).says_cost());
  EXPECT_FALSE(WeighingOf(SumUp(Hourly(2)), {}, 1e6, std::nullopt).has_value());
}

TEST(EarlierRuns, Weighing_ReportedReads_GivenReads_TakenReads) {
  EarlierRuns earlier = SumUp(Hourly(10));
  const IngestHistory ingest{.commits = 10, .files = 10, .bytes = 480 * kMiB, .days = 2};
  auto weighing = WeighingOf(earlier, ingest, 50e6, std::nullopt);
  ASSERT_TRUE(weighing.has_value());
  EXPECT_FALSE(weighing->are_reads_known);
  EXPECT_EQ(weighing->reads_a_day, kReadsADayTaken);
  EXPECT_DOUBLE_EQ(weighing->bytes_a_day, 240.0 * kMiB);
  EXPECT_DOUBLE_EQ(weighing->seconds_per_byte, 1 / 50e6);
  earlier.reads_a_day = 10;
  earlier.read_share = 0.5;
  weighing = WeighingOf(earlier, ingest, 50e6, std::nullopt);
  EXPECT_TRUE(weighing->are_reads_known);
  EXPECT_DOUBLE_EQ(weighing->reads(), 5);
  weighing = WeighingOf(earlier, ingest, 50e6, 3);
  EXPECT_DOUBLE_EQ(weighing->reads(), 3) << "what a person says goes before reports";
}

TEST(EarlierRuns, RewriteCorrection_ComparesAndIsClamped) {
  const EarlierRuns earlier = SumUp(Hourly(25));  // 2,400 MiB a day
  const IngestHistory ingest{.commits = 10, .files = 10, .bytes = 1200 * kMiB, .days = 1};
  EXPECT_NEAR(RewriteCorrection(earlier, ingest, 1), 2, 1e-9);
  EXPECT_NEAR(RewriteCorrection(earlier, ingest, 4), 0.5, 1e-9);
  EXPECT_EQ(RewriteCorrection(earlier, {.commits = 1, .files = 1, .bytes = 1, .days = 1}, 1), kCorrectionMax);
  EXPECT_EQ(RewriteCorrection(earlier, {}, 1), 1);
  EXPECT_EQ(RewriteCorrection({}, ingest, 1), 1);
  EXPECT_EQ(RewriteCorrection(earlier, ingest, 0), 1);
}

/// A merge that saves a second of two and takes a minute.
std::vector<TargetCandidate> Candidates() {
  TargetCandidate small, large;
  small.target_size_bytes = 32 * kMiB;
  large.target_size_bytes = 512 * kMiB;
  large.is_current = true;
  for (TargetCandidate* each : {&small, &large}) {
    each->files_replaced = 100;
    each->merge_seconds = 60;
    each->read_after.two = 1;
  }
  small.lasting_read.two = 1.3;
  large.lasting_read.two = 1;
  small.rewrites_per_byte = 2;
  large.rewrites_per_byte = 8;
  return {small, large};
}

TEST(EarlierRuns, Advise_MergedEveryHour_DoesNotPay) {
  Weighing weighing{.reads_a_day = 24, .are_reads_known = true, .lasting_days = 1.0 / 24, .is_lasting_known = true};
  const Advice churned = Advise(Candidates(), {2, 2}, 100, {}, weighing);
  EXPECT_FALSE(churned.merge) << churned.merge_reason;
  EXPECT_NE(churned.merge_reason.find("merged again"), std::string::npos) << churned.merge_reason;
  weighing.lasting_days = 30;
  EXPECT_TRUE(Advise(Candidates(), {2, 2}, 100, {}, weighing).merge);
  EXPECT_TRUE(Advise(Candidates(), {2, 2}, 100).merge) << "nothing is known: as ever";
}

TEST(EarlierRuns, Advise_RewritingCostsMoreThanReads_SmallerTarget) {
  Weighing weighing{.reads_a_day = 24, .bytes_a_day = 1e9, .seconds_per_byte = 1e-7};
  // 100 s a rewrite of what comes in a day; reads: 24 s against 31.
  const Advice churned = Advise(Candidates(), {2, 2}, 100, {}, weighing);
  EXPECT_TRUE(churned.change_target) << churned.target_reason;
  EXPECT_EQ(churned.target_size_bytes, 32 * kMiB);
  EXPECT_FALSE(Advise(Candidates(), {2, 2}, 100).change_target) << "reads alone keep the large files";
  weighing.reads_a_day = 5000;
  EXPECT_FALSE(Advise(Candidates(), {2, 2}, 100, {}, weighing).change_target) << "it is read all the time";
}

}  // namespace
}  // namespace firn::decide
