// SPDX-License-Identifier: Apache-2.0
//
// Learns from outcomes how much more, or less, a table's work costs than is predicted.
//
// In: predicted and measured seconds of finished work, by kind. Out: a factor for the next prediction.
// Guarantees: factors stay in [1/4, 4], whatever is measured, so that one odd job cannot make a table free or
//   unaffordable. Work of almost no time teaches nothing. A table that nothing is known of has factor 1.
// Cost: O(1), 50 bytes a table. Threads: value type.
// Source: docs/deciding.md. The mean is of logarithms: four times too slow and four times too fast cancel out.
#pragma once

#include <array>
#include <cstdint>

#include "decide/candidate.h"
#include "decide/effect.h"

namespace firn::decide {

inline constexpr double kCorrectionMax = 4;

class CostCorrection {
 public:
  double factor(Action action) const { return factors_[static_cast<std::size_t>(action)]; }
  std::int32_t outcomes(Action action) const { return outcomes_[static_cast<std::size_t>(action)]; }
  /// `uncorrected`: what the cost model said before Apply. Ignored unless both took at least a millisecond.
  void Learn(Action action, double uncorrected_seconds, double measured_seconds);
  /// `effect` with its seconds corrected.
  Effect Apply(Action action, Effect effect) const;
  /// As it was saved; out of range is clamped.
  void Restore(Action action, double factor, std::int32_t outcomes);

  friend bool operator==(const CostCorrection&, const CostCorrection&) = default;

 private:
  std::array<double, 4> factors_ = {1, 1, 1, 1};
  std::array<std::int32_t, 4> outcomes_ = {};
};

}  // namespace firn::decide
