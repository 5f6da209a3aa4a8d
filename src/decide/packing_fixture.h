// SPDX-License-Identifier: Apache-2.0
//
// Limits and predicted sizes that the tests of both packers share.
//
// Guarantees: OutputBytes is written from docs/packing.md, not taken from the packers.
// Threads: pure.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "decide/packing_model.h"

namespace firn::decide {

inline constexpr std::int64_t kMiB = 1 << 20;
inline constexpr std::int64_t kTarget = 128 * kMiB;

inline PackingLimits Limits(double exponent = 1.04) {
  PackingLimits limits;
  limits.target_size_bytes = kTarget;
  limits.healthy_size_bytes = kTarget * 3 / 4;
  limits.size_max_bytes = kTarget * 3 / 2;
  limits.size_exponent = exponent;
  return limits;
}

inline std::int64_t OutputBytes(const std::vector<std::int64_t>& sizes, const Bin& bin, const PackingLimits& limits) {
  const auto target = static_cast<double>(limits.target_size_bytes);
  double power = 0;
  for (auto i : bin) power += std::pow(static_cast<double>(sizes[i]) / target, limits.size_exponent);
  return static_cast<std::int64_t>(std::ceil(std::pow(power, 1 / limits.size_exponent) * target));
}

}  // namespace firn::decide
