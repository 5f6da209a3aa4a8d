// SPDX-License-Identifier: Apache-2.0
#include "decide/packing_ordered.h"

#include <gtest/gtest.h>

#include <vector>

#include "decide/packing_fixture.h"
#include "decide/packing_oracle.h"

namespace firn::decide {
namespace {

/// The list after the bins were joined, in order.
std::vector<std::int64_t> Apply(const std::vector<std::int64_t>& sizes, const std::vector<Bin>& bins,
                                const PackingLimits& limits) {
  std::vector<std::int64_t> after;
  auto bin = bins.begin();
  for (std::uint32_t i = 0; i < sizes.size(); ++i) {
    if (bin != bins.end() && bin->front() == i) {
      after.push_back(OutputBytes(sizes, *bin, limits));
      i = bin->back();
      ++bin;
    } else {
      after.push_back(sizes[i]);
    }
  }
  return after;
}

void ExpectRuns(const std::vector<std::int64_t>& sizes, const std::vector<Bin>& bins, const PackingLimits& limits) {
  std::uint32_t next = 0;
  for (const Bin& bin : bins) {
    ASSERT_GE(bin.size(), 2U);
    ASSERT_GE(bin.front(), next);
    ASSERT_EQ(bin.back() - bin.front() + 1, bin.size()) << "bins are runs";
    next = bin.back() + 1;
    EXPECT_LE(OutputBytes(sizes, bin, limits), limits.size_max_bytes + 1);
  }
}

TEST(PackOrdered, WhatUsersExpect) {
  const std::int64_t kTiny = 100 * 1024;
  const auto limits = Limits();
  struct Case {
    const char* name;
    std::vector<std::int64_t> sizes;
    std::vector<Bin> bins;
  };
  const std::vector<Case> cases = {
      {"nothing", {}, {}},
      {"one", {kTiny}, {}},
      {"five tiny", std::vector<std::int64_t>(5, kTiny), {{0, 1, 2, 3, 4}}},
      {"a healthy file divides", {kTiny, kTiny, kTiny, 100 * kMiB, kTiny, kTiny}, {}},
      {"both sides of a healthy file",
       {kTiny, kTiny, kTiny, kTiny, kTiny, 100 * kMiB, kTiny, kTiny, kTiny, kTiny, kTiny},
       {{0, 1, 2, 3, 4}, {6, 7, 8, 9, 10}}},
      {"halves", {64 * kMiB, 64 * kMiB, 64 * kMiB, 64 * kMiB}, {{0, 1}, {2, 3}}},
      {"near the target", {90 * kMiB, 90 * kMiB, 90 * kMiB}, {}},
  };
  for (const auto& c : cases) EXPECT_EQ(PackOrdered(c.sizes, {}, PackingModel(limits)), c.bins) << c.name;
}

TEST(PackOrdered, Barrier_IsNotCrossed) {
  const std::vector<std::int64_t> sizes(11, 100 * 1024);
  std::vector<bool> barrier(11);
  barrier[5] = true;
  const std::vector<Bin> expected = {{0, 1, 2, 3, 4}, {6, 7, 8, 9, 10}};
  EXPECT_EQ(PackOrdered(sizes, barrier, PackingModel(Limits())), expected);
}

TEST(PackOrdered, AgainstBruteForce_IsOptimal) {
  int cases = 0;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    auto limits = Limits(seed % 2 == 0 ? 1.0 : 1.05);
    if (seed % 3 == 0) limits.min_input_files = 2;
    if (seed % 7 == 0) limits.growth_min = 1;
    const auto sizes = oracle::RandomSizes(random, 1 + random.Below(10), kTarget);
    const auto bins = PackOrdered(sizes, {}, PackingModel(limits));
    ExpectRuns(sizes, bins, limits);
    for (const Bin& bin : bins) EXPECT_TRUE(oracle::ScoreBin(sizes, bin, limits).feasible);
    const double best = oracle::BestOrdered(sizes, limits);
    EXPECT_NEAR(oracle::TotalValue(sizes, bins, limits), best, 1e-3) << "seed " << seed;
    cases += best > 0;
  }
  EXPECT_GT(cases, 500);
}

TEST(PackOrdered, RandomLists_AreValidAndAFixedPoint) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    auto limits = Limits(seed % 3 == 0 ? 1.0 : 1.05);
    if (seed % 5 == 0) limits.min_input_files = 2;
    const auto sizes = oracle::RandomSizes(random, random.Below(seed % 20 == 0 ? 20000 : 300), kTarget);
    const auto bins = PackOrdered(sizes, {}, PackingModel(limits));
    ExpectRuns(sizes, bins, limits);
    ASSERT_EQ(bins, PackOrdered(sizes, {}, PackingModel(limits))) << "seed " << seed;
    const auto after = Apply(sizes, bins, limits);
    const auto again = PackOrdered(after, {}, PackingModel(limits));
    ASSERT_TRUE(again.empty()) << "seed " << seed << ": a second run makes " << again.size() << " bins";
  }
}

TEST(PackOrdered, LimitOfFiles_HoldsAndPlansComeToAnEnd) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    auto limits = Limits(seed % 3 == 0 ? 1.0 : 1.05);
    limits.max_input_files = 5 + static_cast<std::int64_t>(random.Below(60));
    auto sizes = oracle::RandomSizes(random, random.Below(seed % 20 == 0 ? 5000 : 300), kTarget);
    for (int plans = 0;; ++plans) {
      const auto bins = PackOrdered(sizes, {}, PackingModel(limits));
      ExpectRuns(sizes, bins, limits);
      for (const Bin& bin : bins) ASSERT_LE(static_cast<std::int64_t>(bin.size()), limits.max_input_files);
      if (bins.empty()) break;
      sizes = Apply(sizes, bins, limits);
      ASSERT_LE(plans, 8) << "seed " << seed;
    }
  }
}

TEST(PackOrdered, LimitOfFiles_AgainstBruteForce_IsOptimal) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    auto limits = Limits(1);
    limits.min_input_files = 2;
    limits.max_input_files = 2 + static_cast<std::int64_t>(random.Below(4));
    const auto sizes = oracle::RandomSizes(random, 2 + random.Below(9), kTarget / 4);
    const auto bins = PackOrdered(sizes, {}, PackingModel(limits));
    ExpectRuns(sizes, bins, limits);
    EXPECT_NEAR(oracle::TotalValue(sizes, bins, limits), oracle::BestOrdered(sizes, limits), 1e-3) << "seed " << seed;
  }
}

TEST(PackOrdered, MoreFilesThanAMergeMayHave_FillOutputsByNumber) {
  const std::vector<std::int64_t> sizes(100'000, 1024);
  const auto bins = PackOrdered(sizes, {}, PackingModel(Limits(1)));
  ExpectRuns(sizes, bins, Limits(1));
  EXPECT_LE(bins.size(), 14U);
  std::int64_t files = 0;
  for (const Bin& bin : bins) {
    EXPECT_LE(static_cast<std::int64_t>(bin.size()), kInputFilesMax);
    files += static_cast<std::int64_t>(bin.size());
  }
  EXPECT_EQ(files, 100'000);
}

TEST(PackOrdered, LongListOfTinyFiles_FillsOutputs) {
  const auto limits = Limits(1);
  const std::vector<std::int64_t> sizes(25'000, 40 * 1024);
  const auto bins = PackOrdered(sizes, {}, PackingModel(limits));
  ExpectRuns(sizes, bins, limits);
  EXPECT_GE(bins.size(), 6U);
  EXPECT_LE(bins.size(), 8U);
  std::size_t files = 0;
  for (const Bin& bin : bins) files += bin.size();
  EXPECT_EQ(files, sizes.size());
}

}  // namespace
}  // namespace firn::decide
