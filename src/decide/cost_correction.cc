// SPDX-License-Identifier: Apache-2.0
#include "decide/cost_correction.h"

#include <algorithm>
#include <cmath>

namespace firn::decide {
namespace {

/// Of the newest outcome; the first ones count more, or ten jobs would pass before anything is learnt.
constexpr double kWeightMin = 0.2;
constexpr double kSecondsMin = 0.001;

double Clamped(double factor) {
  if (std::isnan(factor)) return 1;
  return std::clamp(factor, 1 / kCorrectionMax, kCorrectionMax);
}

}  // namespace

void CostCorrection::Learn(Action action, double uncorrected_seconds, double measured_seconds) {
  // Written so that "not a number" is ignored as well.
  if (!(uncorrected_seconds >= kSecondsMin && measured_seconds >= kSecondsMin)) return;
  const auto index = static_cast<std::size_t>(action);
  std::int32_t& outcomes = outcomes_[index];
  outcomes = std::min(outcomes + 1, 1'000'000);
  // Beside 1 itself, which counts as an outcome that was right.
  const double weight = std::max(kWeightMin, 1.0 / (outcomes + 1));
  const double seen = Clamped(measured_seconds / uncorrected_seconds);
  factors_[index] = Clamped(std::exp2((1 - weight) * std::log2(factors_[index]) + weight * std::log2(seen)));
}

Effect CostCorrection::Apply(Action action, Effect effect) const {
  effect.seconds *= factor(action);
  return effect;
}

void CostCorrection::Restore(Action action, double factor, std::int32_t outcomes) {
  factors_[static_cast<std::size_t>(action)] = Clamped(factor);
  outcomes_[static_cast<std::size_t>(action)] = std::clamp(outcomes, 0, 1'000'000);
}

}  // namespace firn::decide
