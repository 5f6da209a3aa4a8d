// SPDX-License-Identifier: Apache-2.0
// Which level of zstd pages get that are compressed anew.
#include <gtest/gtest.h>

#include "splice/arrow_tables_test.h"

namespace firn::splice::testing {
namespace {

/// Of the file that all tables become, with the level that is chosen and with one that is asked for.
struct Sizes {
  std::size_t chosen = 0, asked = 0;
};

Sizes SplicedSizes(const std::vector<TablePtr>& tables) {
  FileChoice choice;
  choice.dictionary = false;
  choice.page_rows = 2000;  // small pages, so that they are joined
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables[i], choice)));
  }
  const Spliced chosen = MustSplice(inputs);
  Options options;
  options.codec_level = 1;
  const Spliced asked = MustSplice(inputs, options);
  EXPECT_EQ(DifferenceOf(tables, chosen.file), "");
  EXPECT_EQ(DifferenceOf(tables, asked.file), "");
  return {chosen.file.size(), asked.file.size()};
}

TEST(SpliceLevel, WideIntegers_AreCompressedFasterAndNotWorse_UnlessALevelIsAsked) {
  std::vector<TablePtr> tables;
  for (std::uint64_t i = 0; i < 8; ++i) tables.push_back(SeededTable({"int64"}, 40000, 1 << 20, i, 0));
  const Sizes sizes = SplicedSizes(tables);
  EXPECT_LT(sizes.chosen, sizes.asked);
}

TEST(SpliceLevel, RisingTimes_AreCompressedDenser_UnlessALevelIsAsked) {
  constexpr std::int64_t kRows = 60000, kMilli = 1000;
  Random random(5);
  std::int64_t now = 1'750'000'000'000'000;
  std::vector<TablePtr> tables;
  for (int i = 0; i < 6; ++i) {
    std::vector<std::optional<std::int64_t>> times;
    for (std::int64_t row = 0; row < kRows; ++row) {
      now += static_cast<std::int64_t>(random.Below(9000)) * kMilli;
      times.emplace_back(now);
    }
    tables.push_back(WithLongs(SeededTable({"bool"}, kRows, 2, 1, 0), "at", times));
  }
  const Sizes sizes = SplicedSizes(tables);
  EXPECT_LT(static_cast<double>(sizes.chosen), 0.8 * static_cast<double>(sizes.asked));
}

}  // namespace
}  // namespace firn::splice::testing
