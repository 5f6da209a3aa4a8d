// SPDX-License-Identifier: Apache-2.0
#include "decide/cost_correction.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"

namespace firn::decide {
namespace {

TEST(CostCorrection, ComesCloseToASteadyFactor) {
  for (const double truth : {0.3, 0.9, 1.0, 2.5, 3.9}) {
    CostCorrection correction;
    for (int i = 0; i < 12; ++i) correction.Learn(Action::kMerge, 10, 10 * truth);
    EXPECT_NEAR(correction.factor(Action::kMerge) / truth, 1, 0.1) << truth;
    EXPECT_EQ(correction.factor(Action::kFold), 1) << "each kind of work for itself";
    EXPECT_EQ(correction.Apply(Action::kMerge, {.bytes = 7, .seconds = 2}).bytes, 7);
    EXPECT_NEAR(correction.Apply(Action::kMerge, {.seconds = 2}).seconds, 2 * truth, 0.2 * truth);
  }
}

TEST(CostCorrection, TheFirstOutcomeCountsHalf) {
  CostCorrection correction;
  correction.Learn(Action::kFold, 1, 4);
  EXPECT_DOUBLE_EQ(correction.factor(Action::kFold), 2);
  correction.Learn(Action::kFold, 4, 1);
  EXPECT_NEAR(correction.factor(Action::kFold), 1, 1e-9) << "twice too slow and twice too fast";
}

TEST(CostCorrection, IsClampedAndIgnoresNonsense) {
  Random random(9);
  CostCorrection correction;
  for (const double nonsense : {0.0, -1.0, std::nan(""), 0.0009}) {
    correction.Learn(Action::kMerge, nonsense, 1);
    correction.Learn(Action::kMerge, 1, nonsense);
  }
  EXPECT_EQ(correction, CostCorrection());
  for (int i = 0; i < 10'000; ++i) {
    const double measured =
        random.Below(3) == 0 ? std::numeric_limits<double>::infinity() : std::exp2(40 * random.NextUnit() - 20);
    correction.Learn(Action::kMerge, std::exp2(40 * random.NextUnit() - 20), measured);
    ASSERT_GE(correction.factor(Action::kMerge), 1 / kCorrectionMax);
    ASSERT_LE(correction.factor(Action::kMerge), kCorrectionMax);
  }
  correction.Restore(Action::kMerge, 1e9, -5);
  EXPECT_EQ(correction.factor(Action::kMerge), kCorrectionMax);
  EXPECT_EQ(correction.outcomes(Action::kMerge), 0);
  correction.Restore(Action::kMerge, std::nan(""), 1);
  EXPECT_EQ(correction.factor(Action::kMerge), 1);
}

}  // namespace
}  // namespace firn::decide
