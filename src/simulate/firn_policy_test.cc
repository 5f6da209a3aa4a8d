// SPDX-License-Identifier: Apache-2.0
#include "simulate/firn_policy.h"

#include <gtest/gtest.h>

#include "simulate/run.h"
#include "simulate/trace_fixture.h"

namespace firn::simulate {
namespace {

using fixture::kMiB;
using fixture::ListedTrace;
constexpr TimestampMs kStart{1'000'000'000'000};
constexpr std::int64_t kMinuteMs = 60'000;

PolicyOptions Settings() {
  PolicyOptions options;
  options.plan.policy.target_size_bytes = 128 * kMiB;
  options.start = kStart;
  return options;
}

RunResult Play(Trace& trace, double hours, const PolicyOptions& settings = Settings(), std::int32_t workers = 16) {
  const auto policy = MakeFirnPolicy(settings);
  RunOptions options;
  options.start = kStart;
  options.end = TimestampMs{kStart.value + static_cast<std::int64_t>(hours * 3.6e6)};
  options.workers = workers;
  options.healthy_size_bytes = settings.plan.policy.healthy_size_bytes();
  auto result = Run(trace, *policy, options);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return result ? *result : RunResult();
}

TEST(FirnPolicy, NoiseLeadsToOneScanAndAMerge) {
  ListedTrace trace;
  for (int i = 0; i < 10; ++i) trace.AddFiles(kStart.value + kMinuteMs * (i + 1), 0, 1, kMiB);
  const RunResult result = Play(trace, 2);
  // Five files are noise for a merge of five; then that one and five more.
  EXPECT_EQ(result.funnel.scans, 2);
  EXPECT_EQ(result.funnel.noisy, 2);
  EXPECT_EQ(result.funnel.rechecks, 2);
  EXPECT_EQ(result.funnel.partition_merges, 2);
  EXPECT_EQ(result.end.files, 1);
}

TEST(FirnPolicy, LittleChangeOfMuchIsNotScannedUntilItIsOld) {
  ListedTrace trace;
  PartitionCommit first;
  first.added = std::vector<NewFile>(100, NewFile{120 * kMiB, 1000});
  first.added.resize(105, NewFile{kMiB, 1000});
  trace.Add(kStart.value).partitions.push_back(first);  // much: scanned, and the five become one
  for (int i = 0; i < 6; ++i) trace.AddFiles(kStart.value + kMinuteMs * (i + 1), 0, 1, kMiB);
  const RunResult young = Play(trace, 12);
  EXPECT_EQ(young.funnel.scans, 1);
  EXPECT_EQ(young.end.files, 107);
  trace.Rewind();
  const RunResult old = Play(trace, 30);
  EXPECT_EQ(old.funnel.scans, 2);
  EXPECT_EQ(old.end.files, 101);
}

TEST(FirnPolicy, LargeFilesAreNoiseWithoutAScan) {
  ListedTrace trace;
  for (int i = 0; i < 20; ++i) trace.AddFiles(kStart.value + kMinuteMs * (i + 1), 0, 3, 130 * kMiB);
  const RunResult result = Play(trace, 30);
  EXPECT_GT(result.funnel.noisy, 10);
  EXPECT_EQ(result.funnel.scans, 0);
  EXPECT_EQ(result.funnel.files_replaced, 0);
}

TEST(FirnPolicy, AtThresholdZeroEveryChangeIsLookedAt) {
  PolicyOptions settings = Settings();
  settings.plan.policy.noise_threshold = 0;
  ListedTrace trace;
  for (int i = 0; i < 10; ++i) trace.AddFiles(kStart.value + kMinuteMs * (i + 1), 0, 1, kMiB);
  const RunResult result = Play(trace, 1, settings);
  EXPECT_EQ(result.funnel.noisy, 10);
  EXPECT_LE(result.end.files, 2);
}

TEST(FirnPolicy, WritersThatTakeMergedFilesAwayDoNotConfuseTheState) {
  ListedTrace trace;
  for (std::int64_t i = 0; i < 40; ++i) {
    trace.AddFiles(kStart.value + kMinuteMs * (i + 1), 0, 2, kMiB + i);
    if (i < 6) continue;
    Commit& removal = trace.Add(kStart.value + kMinuteMs * (i + 1) + 5000);
    removal.partitions.resize(1);
    removal.partitions[0].removed_sizes = {kMiB + i - 5};  // merged long ago
  }
  const RunResult result = Play(trace, 2);  // checks each scan against the state
  EXPECT_GT(result.removals_redirected, 10);
  EXPECT_GT(result.funnel.partition_merges, 3);
  EXPECT_LT(result.end.files, 12);
}

TEST(FirnPolicy, EqualityDeletesOfLargeFilesAreConvertedAndNotFolded) {
  ListedTrace trace;
  trace.AddFiles(kStart.value, 0, 2, 120 * kMiB);
  for (std::int64_t i = 0; i < 100; ++i) {
    Commit& commit = trace.Add(kStart.value + kMinuteMs * (i + 1));
    commit.partitions.resize(1);
    commit.partitions[0].deletes = DeleteKind::kEquality;
    commit.partitions[0].deleted_rows = 10;
    commit.partitions[0].places = {static_cast<float>(i % 2)};
  }
  const RunResult result = Play(trace, 3);
  EXPECT_GT(result.funnel.conversions, 3);
  EXPECT_GT(result.funnel.deletes_converted, 70);
  EXPECT_EQ(result.funnel.files_replaced, 0);
  EXPECT_LT(result.end.delete_reads, 50);  // of 200 without conversions
  EXPECT_LT(result.funnel.bytes_written, kMiB);
}

TEST(FirnPolicy, MergesWaitForAWorkerAndAreLookedAtAgain) {
  ListedTrace trace;
  for (std::uint32_t p = 0; p < 12; ++p) trace.AddFiles(kStart.value + p, p, 20, 20 * kMiB);
  trace.AddFiles(kStart.value + 3000, 11, 3, kMiB);  // while most of them wait
  const RunResult result = Play(trace, 1, Settings(), 1);
  EXPECT_EQ(result.peak_workers, 1);
  EXPECT_EQ(result.funnel.scans, 12);
  EXPECT_EQ(result.funnel.rechecks, 12);
  EXPECT_EQ(result.funnel.partition_merges, 12);
  EXPECT_EQ(result.end.small_files, 0);  // the three as well
}

}  // namespace
}  // namespace firn::simulate
