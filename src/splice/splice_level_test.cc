// SPDX-License-Identifier: Apache-2.0
// Which level of zstd pages get that are compressed anew.
#include <gtest/gtest.h>

#include "splice/arrow_tables_test.h"

namespace firn::splice::testing {
namespace {

TEST(SpliceLevel, WideIntegers_AreCompressedFasterAndNotWorse_UnlessALevelIsAsked) {
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  FileChoice choice;
  choice.dictionary = false;
  choice.page_rows = 2000;  // small pages, so that they are joined
  for (int i = 0; i < 8; ++i) {
    tables.push_back(SeededTable({"int64"}, 40000, 1 << 20, static_cast<std::uint64_t>(i), 0));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), choice)));
  }
  const Spliced chosen = MustSplice(inputs);
  Options options;
  options.codec_level = 1;
  const Spliced asked = MustSplice(inputs, options);
  EXPECT_EQ(DifferenceOf(tables, chosen.file), "");
  EXPECT_EQ(DifferenceOf(tables, asked.file), "");
  EXPECT_LT(chosen.file.size(), asked.file.size());
}

TEST(SpliceLevel, RisingTimes_AreCompressedDenser_UnlessALevelIsAsked) {
  constexpr std::int64_t kRows = 60000, kMilli = 1000;
  Random random(5);
  std::int64_t now = 1'750'000'000'000'000;
  std::vector<TablePtr> tables;
  std::vector<Input> inputs;
  FileChoice choice;
  choice.dictionary = false;
  choice.page_rows = 2000;  // small pages, so that they are joined
  for (int i = 0; i < 6; ++i) {
    std::vector<std::optional<std::int64_t>> times;
    for (std::int64_t row = 0; row < kRows; ++row) {
      now += static_cast<std::int64_t>(random.Below(9000)) * kMilli;
      times.emplace_back(now);
    }
    tables.push_back(WithLongs(SeededTable({"bool"}, kRows, 2, 1, 0), "at", times));
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), choice)));
  }
  const Spliced chosen = MustSplice(inputs);
  Options options;
  options.codec_level = 1;
  const Spliced asked = MustSplice(inputs, options);
  EXPECT_EQ(DifferenceOf(tables, chosen.file), "");
  EXPECT_EQ(DifferenceOf(tables, asked.file), "");
  EXPECT_LT(static_cast<double>(chosen.file.size()), 0.8 * static_cast<double>(asked.file.size()));
}

}  // namespace
}  // namespace firn::splice::testing
