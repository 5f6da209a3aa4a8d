// SPDX-License-Identifier: Apache-2.0
#include "orient/file_size_entropy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace firn::orient {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

TEST(FileSizeEntropy, KnownSizes_GiveTheFormula) {
  FileSizeEntropy entropy(100);
  EXPECT_EQ(entropy.mean_squared_error(), 0);
  EXPECT_EQ(entropy.entropy(), 0);
  for (std::int64_t size : {100, 250, 40, 0}) entropy.Add(size);
  EXPECT_EQ(entropy.file_count(), 4);
  EXPECT_DOUBLE_EQ(entropy.squared_error(), 60 * 60 + 100 * 100);
  EXPECT_DOUBLE_EQ(entropy.mean_squared_error(), 13600.0 / 4);
  EXPECT_DOUBLE_EQ(entropy.entropy(), std::sqrt(3400.0) / 100);
  EXPECT_DOUBLE_EQ(entropy.mean_clipped_size_bytes(), (100 + 100 + 40 + 0) / 4.0);
}

TEST(FileSizeEntropy, FilesAboveTheTarget_HaveNoError) {
  FileSizeEntropy entropy(kMiB);
  for (int i = 0; i < 10; ++i) entropy.Add(kMiB + i * kMiB);
  EXPECT_EQ(entropy.squared_error(), 0);
}

TEST(FileSizeEntropy, RandomCommits_EqualRecountingBitByBit) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Random random(seed);
    const auto target = static_cast<std::int64_t>(1 + random.Below(std::uint64_t{1} << 42));
    FileSizeEntropy state(target);
    std::vector<std::int64_t> live;
    for (int step = 0; step < 400; ++step) {
      if (!live.empty() && random.Below(3) == 0) {
        const auto at = random.Below(live.size());
        state.Remove(live[at]);
        live[at] = live.back();
        live.pop_back();
      } else {
        live.push_back(static_cast<std::int64_t>(random.Below(static_cast<std::uint64_t>(target) * 2)));
        state.Add(live.back());
      }
      FileSizeEntropy again(target);
      for (std::int64_t size : live) again.Add(size);
      ASSERT_EQ(state, again) << "seed " << seed << " step " << step;
    }
  }
}

TEST(FileSizeEntropy, ManyHugeErrors_DoNotOverflow) {
  constexpr std::int64_t target = std::int64_t{1} << 42;
  FileSizeEntropy all(target);
  FileSizeEntropy half(target);
  half.Add(0);
  all.Add(0);
  for (int doubling = 0; doubling < 42; ++doubling) {
    all.Merge(half);
    half.Merge(half);
  }
  EXPECT_EQ(all.file_count(), std::int64_t{1} << 42);
  EXPECT_DOUBLE_EQ(all.entropy(), 1);
}

TEST(FileSizeEntropy, Merge_EqualsAddingAll) {
  Random random(7);
  FileSizeEntropy a(kMiB), b(kMiB), both(kMiB);
  for (int i = 0; i < 1000; ++i) {
    const auto size = static_cast<std::int64_t>(random.Below(2 * kMiB));
    (i % 3 == 0 ? a : b).Add(size);
    both.Add(size);
  }
  a.Merge(b);
  EXPECT_EQ(a, both);
}

}  // namespace
}  // namespace firn::orient
