// SPDX-License-Identifier: Apache-2.0
#include "decide/cost.h"

#include <gtest/gtest.h>

#include "decide/cost_correction.h"

namespace firn::decide {
namespace {

double Seconds(std::string_view codec, std::optional<int> level) {
  return PredictSeconds(CostModelOf(codec, level), 100'000'000, 10);
}

TEST(CostModel, SlowerLevelsOfACodecTakeLonger) {
  for (const std::string_view codec : {"gzip", "zstd", "brotli"}) {
    for (int level = -7; level < 30; ++level) {
      EXPECT_LE(Seconds(codec, level), Seconds(codec, level + 1)) << codec << ' ' << level;
    }
  }
  EXPECT_GT(Seconds("gzip", 9), 10 * Seconds("snappy", {}));
  EXPECT_GT(Seconds("gzip", {}), 3 * Seconds("snappy", {}));
  EXPECT_LT(Seconds("zstd", {}), 2 * Seconds("snappy", {}));
  EXPECT_DOUBLE_EQ(Seconds("snappy", {}), Seconds("", 9));
}

/// 12 files of one table, joined on one core: bytes of the inputs, seconds of the processor.
TEST(CostModel, MeasuredMergesAreWithinAFactorOfFiveBeforeAndThreeAfterOneOutcome) {
  struct Case {
    std::string_view input, codec;
    std::optional<int> level;
    std::int64_t bytes;
    double seconds;
  };
  const Case cases[] = {{"snappy", "snappy", {}, 50'839'053, 0.31},     {"snappy", "zstd", {}, 50'839'053, 0.32},
                        {"snappy", "gzip", {}, 50'839'053, 0.99},       {"zstd", "zstd", {}, 33'039'042, 0.30},
                        {"zstd", "gzip", {}, 33'039'042, 0.98},         {"zstd", "zstd", 9, 33'039'042, 1.39},
                        {"gzip", "gzip", {}, 33'403'554, 1.01},         {"gzip", "gzip", 9, 33'403'554, 5.75},
                        {"gzip", "zstd", {}, 33'403'554, 0.35},         {"uncompressed", "zstd", {}, 83'732'695, 0.26},
                        {"uncompressed", "gzip", {}, 83'732'695, 0.98}, {"zstd", "zstd", 19, 33'039'042, 21.0}};
  for (const Case& item : cases) {
    const double predicted = PredictSeconds(CostModelOf(item.codec, item.level), item.bytes, 12);
    const double ratio = item.seconds / predicted;
    EXPECT_GT(ratio, 1.0 / 5) << item.input << " to " << item.codec;
    EXPECT_LT(ratio, 5) << item.input << " to " << item.codec;
    CostCorrection correction;
    correction.Learn(Action::kMerge, predicted, item.seconds);
    const double corrected = ratio / correction.factor(Action::kMerge);
    EXPECT_GT(corrected, 1.0 / 3) << item.input << " to " << item.codec;
    EXPECT_LT(corrected, 3) << item.input << " to " << item.codec;
  }
}

}  // namespace
}  // namespace firn::decide
