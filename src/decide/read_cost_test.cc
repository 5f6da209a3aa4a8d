// SPDX-License-Identifier: Apache-2.0
#include "decide/read_cost.h"

#include <gtest/gtest.h>

#include <vector>

namespace firn::decide {
namespace {

TEST(ReadCost, FitReadCost_ExactLine_FindsItsConstants) {
  std::vector<ReadMeasurement> points;
  for (const double files : {400.0, 40.0, 4.0}) points.push_back({files, 5e7, files * 3e-4 + 5e7 * 2e-9});
  const auto cost = FitReadCost(points);
  ASSERT_TRUE(cost.has_value());
  EXPECT_NEAR(cost->seconds_per_file, 3e-4, 1e-9);
  EXPECT_NEAR(cost->seconds_per_byte, 2e-9, 1e-14);
}

TEST(ReadCost, FitReadCost_FewerFilesWereSlower_NoNegativeConstant) {
  const std::vector<ReadMeasurement> points = {{100, 1e6, 1.0}, {1, 1e6, 1.2}};
  const auto cost = FitReadCost(points);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->seconds_per_file, 0);
  EXPECT_NEAR(cost->Seconds(1, 1e6), 1.1, 0.1);
}

TEST(ReadCost, FitReadCost_BytesWereFree_OnlyFilesCount) {
  const std::vector<ReadMeasurement> points = {{100, 1e6, 1.0}, {10, 2e6, 0.05}};
  const auto cost = FitReadCost(points);
  ASSERT_TRUE(cost.has_value());
  EXPECT_GT(cost->seconds_per_file, 0);
  EXPECT_EQ(cost->seconds_per_byte, 0);
}

TEST(ReadCost, FitReadCost_AlikeOrImpossible_Nothing) {
  EXPECT_FALSE(FitReadCost(std::vector<ReadMeasurement>{{10, 1e6, 1}}));
  EXPECT_FALSE(FitReadCost(std::vector<ReadMeasurement>{{10, 1e6, 1}, {11, 1e6, 1.1}}));
  EXPECT_FALSE(FitReadCost(std::vector<ReadMeasurement>{{10, 1e6, 1}, {1, 1e6, 0}}));
}

TEST(ReadCost, FitSizeExponent_GivesBackTheSize) {
  const std::vector<std::int64_t> inputs(100, 1'000);
  const auto exponent = FitSizeExponent(inputs, 80'000);
  ASSERT_TRUE(exponent.has_value());
  EXPECT_NEAR(*exponent, 1.05, 0.01);  // 100^(1/p - 1) = 0.8
  EXPECT_NEAR(*FitSizeExponent(inputs, 100'000), 1, 1e-9);
  EXPECT_EQ(*FitSizeExponent(inputs, 1), 1.5);
  EXPECT_FALSE(FitSizeExponent(inputs, 100'001));
  EXPECT_FALSE(FitSizeExponent(std::vector<std::int64_t>{5}, 4));
}

}  // namespace
}  // namespace firn::decide
