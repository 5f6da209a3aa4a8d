// SPDX-License-Identifier: Apache-2.0
#include "simulate/run.h"

#include <gtest/gtest.h>

#include <set>

#include "simulate/comparison.h"
#include "simulate/policies.h"
#include "simulate/synthetic_trace.h"
#include "simulate/trace_fixture.h"

namespace firn::simulate {
namespace {

using fixture::kMiB;
using fixture::ListedTrace;
constexpr TimestampMs kStart{1'000'000'000'000};
constexpr std::int64_t kHourMs = 3'600'000;

PolicyOptions Settings() {
  PolicyOptions options;
  options.plan.policy.target_size_bytes = 128 * kMiB;
  options.start = kStart;
  options.period_hours = 1;
  return options;
}

RunResult Play(Trace& trace, std::string_view policy, double hours, std::int32_t workers = 4) {
  const PolicyOptions settings = Settings();
  auto made = MakePolicy(policy, settings);
  EXPECT_TRUE(made.has_value());
  RunOptions options;
  options.start = kStart;
  options.end = TimestampMs{kStart.value + static_cast<std::int64_t>(hours * 3.6e6)};
  options.workers = workers;
  options.samples = 12;
  options.healthy_size_bytes = settings.plan.policy.healthy_size_bytes();
  auto result = simulate::Run(trace, **made, options);
  EXPECT_TRUE(result.has_value()) << result.error().message;
  return result ? *result : RunResult();
}

RunResult PlayWorkload(std::string_view workload_name, std::string_view policy, std::uint64_t seed) {
  auto workload = FindWorkload(workload_name);
  EXPECT_TRUE(workload.has_value());
  workload->tables = std::min(workload->tables, 2);
  workload->hours = workload->name == "fleet" ? 0.1 : 2;
  SyntheticTrace trace(*workload, seed, kStart);
  return Play(trace, policy, workload->hours);
}

/// Ten commits of one file of 1 MiB, a minute apart.
ListedTrace TenFiles() {
  ListedTrace trace;
  for (int i = 0; i < 10; ++i) trace.AddFiles(kStart.value + 60'000 * (i + 1), 0, 1, kMiB);
  return trace;
}

TEST(Run, WithoutMergesFilesAndCostsAreThoseOfTheCommits) {
  ListedTrace trace;
  trace.AddFiles(kStart.value, 0, 2, kMiB);
  trace.AddFiles(kStart.value + kHourMs, 1, 2, 3 * kMiB);
  const RunResult result = Play(trace, "none", 4);
  EXPECT_EQ(result.funnel.commits, 2);
  EXPECT_EQ(result.funnel.changed, 2);
  EXPECT_EQ(result.funnel.scans, 0);
  EXPECT_DOUBLE_EQ(result.mean_files, (2 * 1 + 4 * 3) / 4.0);
  EXPECT_DOUBLE_EQ(result.mean_read_cost, (1 * (2 + 8) + 3 * (8 + 16)) / 4.0 * kMiB);
  EXPECT_EQ(result.bytes_ingested, 8 * kMiB);
  ASSERT_EQ(result.samples.size(), 13U);
  EXPECT_EQ(result.samples[1].totals.files, 2);
  EXPECT_EQ(result.samples.back().totals.files, 4);
}

TEST(Run, PeriodicLooksAtEveryPartitionEachTime) {
  ListedTrace trace = TenFiles();
  trace.AddFiles(kStart.value + 11 * 60'000, 1, 1, kMiB);
  const RunResult result = Play(trace, "periodic", 3.5);
  EXPECT_EQ(result.funnel.scans, 3 * 2);
  EXPECT_EQ(result.funnel.partition_merges, 1);
  EXPECT_EQ(result.funnel.files_replaced, 10);
  EXPECT_EQ(result.end.files, 2);
}

TEST(Run, ThresholdWaitsForItsSmallFiles) {
  ListedTrace trace;
  for (int i = 0; i < 45; ++i) trace.AddFiles(kStart.value + 60'000 * (i + 1), 0, 1, kMiB);
  const RunResult result = Play(trace, "threshold", 2);
  // 20 files become one, that and 19 more again; 6 files wait.
  EXPECT_EQ(result.funnel.scans, 2);
  EXPECT_EQ(result.funnel.files_replaced, 40);
  EXPECT_EQ(result.end.files, 45 - 40 + 2);
}

TEST(Run, EntropyScansEveryChange) {
  ListedTrace trace = TenFiles();
  const RunResult result = Play(trace, "entropy", 2);
  EXPECT_EQ(result.funnel.scans, 10);
  EXPECT_EQ(result.funnel.noisy, 10);
  EXPECT_EQ(result.funnel.partition_merges, 2);  // of 5, then of that one and 4 more
  EXPECT_EQ(result.end.files, 2);
}

TEST(Run, EveryCommitPlansAsDecideDoes) {
  ListedTrace trace = TenFiles();
  const RunResult result = Play(trace, "every-commit", 2);
  EXPECT_EQ(result.funnel.scans, 10);
  EXPECT_EQ(result.funnel.partition_merges, 2);
  EXPECT_EQ(result.funnel.merges, 2);
}

TEST(Run, ChangesOfABusyPartitionAreLookedAtAfterwards) {
  ListedTrace trace;
  trace.AddFiles(kStart.value, 0, 20, 20 * kMiB);  // three seconds of work
  trace.AddFiles(kStart.value + 1000, 0, 6, kMiB);
  const RunResult result = Play(trace, "every-commit", 1);
  EXPECT_EQ(result.funnel.scans, 2);
  EXPECT_EQ(result.funnel.partition_merges, 2);
  EXPECT_LT(result.end.small_files, 5);
}

TEST(Run, NoMoreWorkersThanThereAre) {
  for (const std::int32_t workers : {1, 3}) {
    ListedTrace trace;
    for (std::uint32_t p = 0; p < 30; ++p) trace.AddFiles(kStart.value + 1, p, 6, 10 * kMiB);
    const RunResult result = Play(trace, "periodic", 3, workers);
    EXPECT_EQ(result.peak_workers, workers);
    EXPECT_EQ(result.funnel.partition_merges, 30);
    EXPECT_EQ(result.end.files, 30);
    EXPECT_NEAR(result.worker_seconds, 30 * (60.0 * kMiB / 150e6 + 6 * 0.00005 + 0.02), 0.1);
    EXPECT_NEAR(result.mean_workers, result.worker_seconds / (3 * 3600), 1e-9);
  }
}

TEST(Run, EveryPolicyKeepsTheRows) {
  for (const Workload& workload : Workloads()) {
    std::set<std::int64_t> rows;
    for (const std::string_view policy : PolicyNames()) rows.insert(PlayWorkload(workload.name, policy, 4).end.rows);
    EXPECT_EQ(rows.size(), 1U) << workload.name;
  }
}

TEST(Run, MergingLeavesFewerFilesAndReadsLess) {
  for (const std::string_view name : {"streaming-late", "bursty", "steady-wide", "upserts"}) {
    const RunResult none = PlayWorkload(name, "none", 2);
    for (const std::string_view policy : PolicyNames()) {
      const RunResult result = PlayWorkload(name, policy, 2);
      if (policy == "none") continue;
      EXPECT_LT(result.mean_files, none.mean_files) << name << " " << policy;
      EXPECT_LT(result.mean_read_cost, none.mean_read_cost) << name << " " << policy;
    }
  }
}

TEST(Run, SameSeedSameResult) {
  for (const std::string_view policy : PolicyNames()) {
    const std::string first = json::Write(ToJson(PlayWorkload("upserts", policy, 9)));
    EXPECT_EQ(first, json::Write(ToJson(PlayWorkload("upserts", policy, 9)))) << policy;
    EXPECT_NE(first, json::Write(ToJson(PlayWorkload("upserts", policy, 10)))) << policy;
  }
}

TEST(Run, EndsWhenItIsCancelled) {
  ListedTrace trace = TenFiles();
  auto policy = MakePolicy("none", Settings());
  const std::atomic<bool> cancelled = true;
  RunOptions options;
  options.start = kStart;
  options.end = TimestampMs{kStart.value + kHourMs};
  options.cancelled = &cancelled;
  const auto result = simulate::Run(trace, **policy, options);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, Code::kCancelled);
}

TEST(Policies, UnknownNamesAreErrors) {
  const auto policy = MakePolicy("hourly", Settings());
  ASSERT_FALSE(policy.has_value());
  EXPECT_EQ(policy.error().code, Code::kInvalidArgument);
  EXPECT_NE(policy.error().message.find("periodic"), std::string::npos);
}

TEST(Comparison, SavingsAreOfTheOther) {
  RunResult ours, other;
  ours.funnel.scans = 60;
  ours.funnel.rechecks = 18;
  other.funnel.scans = 100;
  ours.funnel.partition_merges = 98;
  other.funnel.partition_merges = 100;
  ours.funnel.files_replaced = 150;
  other.funnel.files_replaced = 100;
  ours.mean_files = 2;
  other.mean_files = 10;
  const Savings savings = Compare(ours, other);
  EXPECT_DOUBLE_EQ(*savings[0], 0.22);
  EXPECT_NEAR(*savings[1], 0.02, 1e-12);
  EXPECT_DOUBLE_EQ(*savings[2], -0.5);
  EXPECT_DOUBLE_EQ(*savings[3], 0.8);
  EXPECT_FALSE(savings[4].has_value());
  ours.funnel.changed = 240;
  ours.funnel.files_in_merged = 600;
  const OwnFunnel own = OwnFunnelOf(ours);
  EXPECT_DOUBLE_EQ(*own.not_scanned, 0.75);
  EXPECT_DOUBLE_EQ(*own.not_replaced, 0.75);
}

}  // namespace
}  // namespace firn::simulate
