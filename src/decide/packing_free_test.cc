// SPDX-License-Identifier: Apache-2.0
#include "decide/packing_free.h"

#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <vector>

#include "decide/packing_fixture.h"
#include "decide/packing_oracle.h"

namespace firn::decide {
namespace {

/// Nothing is forbidden or costs anything: only sizes count.
PackingLimits FreeOfCost() {
  PackingLimits limits = Limits(1);
  limits.min_input_files = 2;
  limits.growth_min = 1;
  limits.file_cost = limits.byte_cost = 0;
  return limits;
}

std::vector<std::int64_t> Apply(const std::vector<std::int64_t>& sizes, const std::vector<Bin>& bins,
                                const PackingLimits& limits) {
  std::vector<bool> gone(sizes.size());
  std::vector<std::int64_t> after;
  for (const Bin& bin : bins) {
    for (auto i : bin) gone[i] = true;
    after.push_back(OutputBytes(sizes, bin, limits));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!gone[i]) after.push_back(sizes[i]);
  }
  return after;
}

double SquaredError(const std::vector<std::int64_t>& sizes) {
  double sum = 0;
  for (auto size : sizes) {
    const double e = 1 - static_cast<double>(std::min(size, kTarget)) / static_cast<double>(kTarget);
    sum += e * e;
  }
  return sum;
}

std::int64_t Replaced(const std::vector<Bin>& bins) {
  std::int64_t count = 0;
  for (const Bin& bin : bins) count += static_cast<std::int64_t>(bin.size());
  return count;
}

void ExpectValid(const std::vector<std::int64_t>& sizes, const std::vector<Bin>& bins, const PackingLimits& limits) {
  std::set<std::uint32_t> seen;
  for (const Bin& bin : bins) {
    EXPECT_GE(bin.size(), 2U);
    EXPECT_TRUE(std::is_sorted(bin.begin(), bin.end()));
    EXPECT_LE(OutputBytes(sizes, bin, limits), limits.size_max_bytes + 1);
    for (auto i : bin) {
      ASSERT_LT(i, sizes.size());
      EXPECT_TRUE(seen.insert(i).second) << "file " << i << " is in two bins";
      EXPECT_LT(sizes[i], limits.healthy_size_bytes);
    }
  }
}

TEST(PackFree, WhatUsersExpect) {
  const auto limits = Limits();
  struct Case {
    const char* name;
    std::vector<std::int64_t> sizes;
    std::vector<std::size_t> bin_sizes;
  };
  const std::vector<Case> cases = {
      {"nothing", {}, {}},
      {"one small file", {kMiB}, {}},
      {"four tiny files are not worth a commit", std::vector<std::int64_t>(4, 100 * 1024), {}},
      {"five tiny files", std::vector<std::int64_t>(5, 100 * 1024), {5}},
      {"2,000 files of 110 KiB: two outputs or one", std::vector<std::int64_t>(2000, 110 * 1024), {2000}},
      {"halves", {64 * kMiB, 64 * kMiB}, {2}},
      {"pairs near the target are left alone", {90 * kMiB, 90 * kMiB, 90 * kMiB, 90 * kMiB}, {}},
      {"healthy files", {100 * kMiB, 128 * kMiB, 300 * kMiB}, {}},
      {"a large leftover does not swallow a few tiny files", {80 * kMiB, kMiB, kMiB, kMiB, kMiB, kMiB}, {5}},
      {"empty files", std::vector<std::int64_t>(6, 0), {6}},
  };
  for (const auto& c : cases) {
    const auto bins = PackFree(c.sizes, PackingModel(limits));
    ExpectValid(c.sizes, bins, limits);
    std::vector<std::size_t> bin_sizes;
    for (const auto& bin : bins) bin_sizes.push_back(bin.size());
    EXPECT_EQ(bin_sizes, c.bin_sizes) << c.name;
  }
}

TEST(PackFree, ManyTinyFiles_GiveOutputsNearTheTarget) {
  const auto limits = Limits(1);
  for (std::size_t count : {3000U, 10000U, 77777U}) {
    const std::vector<std::int64_t> sizes(count, 110 * 1024);
    const auto bins = PackFree(sizes, PackingModel(limits));
    EXPECT_EQ(Replaced(bins), static_cast<std::int64_t>(count));
    for (const auto& bin : bins) {
      EXPECT_GE(OutputBytes(sizes, bin, limits), kTarget * 3 / 4);
      EXPECT_LE(OutputBytes(sizes, bin, limits), kTarget * 3 / 2);
      EXPECT_EQ(bin.back() - bin.front() + 1, bin.size()) << "neighbours stay together";
    }
  }
}

TEST(PackFree, RandomSizes_AreValidAndAFixedPoint) {
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    auto limits = Limits(seed % 3 == 0 ? 1.0 : 1.05);
    if (seed % 5 == 0) limits.min_input_files = 2;
    const auto sizes = oracle::RandomSizes(random, random.Below(seed % 10 == 0 ? 2000 : 60), kTarget);
    const auto bins = PackFree(sizes, PackingModel(limits));
    ExpectValid(sizes, bins, limits);
    ASSERT_EQ(bins, PackFree(sizes, PackingModel(limits))) << "seed " << seed;
    const auto after = Apply(sizes, bins, limits);
    const auto again = PackFree(after, PackingModel(limits));
    ASSERT_TRUE(again.empty()) << "seed " << seed << ": a second run joins " << Replaced(again) << " files";
  }
}

TEST(PackFree, MoreFilesThanAMergeMayHave_AreDividedAmongNeighbours) {
  const PackingModel model(Limits(1));
  const std::vector<std::int64_t> sizes(100'000, 1024);
  const auto bins = PackFree(sizes, model);
  ExpectValid(sizes, bins, model.limits());
  ASSERT_EQ(bins.size(), 13U);
  for (const auto& bin : bins) {
    EXPECT_LE(bin.size(), 7693U);
    EXPECT_GE(bin.size(), 7684U);
    EXPECT_EQ(bin.back() - bin.front() + 1, bin.size()) << "neighbours stay together";
  }
  const auto after = Apply(sizes, bins, model.limits());
  const auto again = PackFree(after, model);
  ASSERT_EQ(again.size(), 1U);
  EXPECT_EQ(again[0].size(), 13U);
}

TEST(PackFree, ALargeFileAmongTooManyTinyOnes_StaysAlone) {
  auto limits = Limits(1);
  limits.max_input_files = 64;
  std::vector<std::int64_t> sizes(100, 1024);
  sizes[10] = 90 * kMiB;  // with all others it is not healthy and not grown to twice its size
  sizes[20] = 95 * kMiB;  // both together are
  const auto bins = PackFree(sizes, PackingModel(limits));
  ExpectValid(sizes, bins, limits);
  std::size_t files = 0;
  for (const auto& bin : bins) files += bin.size();
  EXPECT_GE(files, 98U);
  ASSERT_EQ(bins.size(), 2U);
}

TEST(PackFree, LimitOfFiles_HoldsAndPlansComeToAnEnd) {
  std::int64_t divided = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Random random(seed);
    auto limits = Limits(seed % 3 == 0 ? 1.0 : 1.05);
    limits.max_input_files = 5 + static_cast<std::int64_t>(random.Below(60));
    auto sizes = oracle::RandomSizes(random, random.Below(seed % 10 == 0 ? 3000 : 300), kTarget);
    int plans = 0;
    while (true) {
      const auto bins = PackFree(sizes, PackingModel(limits));
      ExpectValid(sizes, bins, limits);
      for (const auto& bin : bins) {
        ASSERT_LE(static_cast<std::int64_t>(bin.size()), limits.max_input_files);
        ASSERT_TRUE(oracle::ScoreBin(sizes, bin, limits).feasible) << "seed " << seed;
        ASSERT_GT(oracle::ScoreBin(sizes, bin, limits).value, -1e-3) << "seed " << seed;
      }
      if (bins.empty()) break;
      sizes = Apply(sizes, bins, limits);
      ASSERT_LE(++plans, 8) << "seed " << seed;
    }
    divided += plans > 1;
  }
  EXPECT_GT(divided, 30);
}

TEST(PackFree, AtMostOneSmallOutput) {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const auto limits = Limits(1);
    const auto sizes = oracle::RandomSizes(random, 5 + random.Below(500), kTarget);
    int small = 0;
    for (const auto& bin : PackFree(sizes, PackingModel(limits)))
      small += OutputBytes(sizes, bin, limits) < limits.healthy_size_bytes;
    EXPECT_LE(small, 1) << "seed " << seed;
  }
}

TEST(PackFree, AgainstPlainFirstFitDecreasing_NeverReplacesMoreForTheSameError) {
  std::int64_t modified_files = 0, plain_files = 0;
  for (std::uint64_t seed = 1; seed <= 700; ++seed) {
    Random random(seed);
    const auto limits = FreeOfCost();
    const auto sizes = oracle::RandomSizes(random, 2 + random.Below(200), kTarget);
    const auto plain = PackFirstFitDecreasing(sizes, PackingModel(limits));
    ExpectValid(sizes, plain, limits);
    if (plain.empty()) continue;
    const auto plain_after = Apply(sizes, plain, limits);
    const double plain_mse = SquaredError(plain_after) / static_cast<double>(plain_after.size());
    PackingGoal goal{plain_mse, 0, 0};
    const auto bins = PackFree(sizes, PackingModel(limits), goal);
    ExpectValid(sizes, bins, limits);
    const auto after = Apply(sizes, bins, limits);
    const double mse = after.empty() ? 0 : SquaredError(after) / static_cast<double>(after.size());
    EXPECT_LE(mse, plain_mse + 1e-6) << "seed " << seed;
    EXPECT_LE(Replaced(bins), Replaced(plain)) << "seed " << seed;
    modified_files += Replaced(bins);
    plain_files += Replaced(plain);
  }
  EXPECT_LT(modified_files, plain_files);
}

TEST(PackFree, WithAGoal_StopsWhenItIsReached) {
  std::int64_t with_goal = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const PackingModel model(FreeOfCost());
    const auto sizes = oracle::RandomSizes(random, 10 + random.Below(400), kTarget);
    const auto all = PackFree(sizes, model);
    const auto least = Apply(sizes, all, model.limits());
    // Reachable, and well above the least: other files of the partition are without error.
    const PackingGoal goal{(SquaredError(sizes) * 0.2 + SquaredError(least) * 0.8) / 1e6, 1'000'000, 0};
    const auto bins = PackFree(sizes, model, goal);
    ExpectValid(sizes, bins, model.limits());
    const auto after = Apply(sizes, bins, model.limits());
    EXPECT_LE(SquaredError(after), goal.mean_squared_error * (1e6 + static_cast<double>(after.size())) + 1e-4);
    EXPECT_TRUE(PackFree(after, model, goal).empty());
    with_goal += Replaced(bins);
    without += Replaced(all);
  }
  EXPECT_LT(with_goal, without);
}

TEST(PackFree, AgainstPlainFirstFitDecreasing_RewritesFewerBytes) {
  double modified_gain = 0, plain_gain = 0, modified_bytes = 0, plain_bytes = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    const PackingModel model(Limits(1));
    const auto sizes = oracle::RandomSizes(random, 10 + random.Below(400), kTarget);
    const auto bins = PackFree(sizes, model);
    const auto plain = PackFirstFitDecreasing(sizes, model);
    modified_gain += SquaredError(sizes) - SquaredError(Apply(sizes, bins, model.limits()));
    plain_gain += SquaredError(sizes) - SquaredError(Apply(sizes, plain, model.limits()));
    for (const auto& bin : bins) modified_bytes += static_cast<double>(OutputBytes(sizes, bin, model.limits()));
    for (const auto& bin : plain) plain_bytes += static_cast<double>(OutputBytes(sizes, bin, model.limits()));
  }
  std::printf("gain %.3f, bytes %.3f of plain\n", modified_gain / plain_gain, modified_bytes / plain_bytes);
  EXPECT_GT(modified_gain, 0.95 * plain_gain);
  EXPECT_LT(modified_bytes, 0.8 * plain_bytes);
}

TEST(PackFree, AgainstBruteForce_ComesClose) {
  double ours_sum = 0, best_sum = 0, worst = 1;
  int optimal = 0, cases = 0;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    Random random(seed);
    auto limits = Limits(seed % 2 == 0 ? 1.0 : 1.05);
    if (seed % 3 == 0) limits.min_input_files = 2;
    const auto sizes = oracle::RandomSizes(random, 2 + random.Below(8), limits.healthy_size_bytes);
    std::vector<Bin> partial;
    double best = 0;
    oracle::BestFree(sizes, limits, 0, partial, best);
    const double ours = oracle::TotalValue(sizes, PackFree(sizes, PackingModel(limits)), limits);
    EXPECT_LE(ours, best + 1e-3) << "seed " << seed;
    if (best < 1e-6) continue;
    ++cases;
    optimal += ours >= best - 1e-3;
    ours_sum += ours;
    best_sum += best;
    worst = std::min(worst, ours / best);
  }
  std::printf("%d of %d optimal, %.4f of the optimum in sum, worst %.3f\n", optimal, cases, ours_sum / best_sum, worst);
  EXPECT_GT(cases, 120);
  EXPECT_GE(ours_sum, 0.97 * best_sum);
}

}  // namespace
}  // namespace firn::decide
