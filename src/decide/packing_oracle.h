// SPDX-License-Identifier: Apache-2.0
//
// Finds the best packing by trying all of them, for tests.
//
// Guarantees: no packing is better in the objective.
// Cost: Bell(n) or 2^n; n <= 10. Threads: pure. Source: the objective of docs/packing.md, written down directly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "decide/packing_model.h"

namespace firn::decide::oracle {

/// The objective from its definition, with pow() and sums of sizes instead of the model's weights and tables.
struct Score {
  double value = 0;
  bool feasible = true;
};

inline Score ScoreBin(const std::vector<std::int64_t>& sizes, const Bin& bin, const PackingLimits& limits) {
  const auto target = static_cast<double>(limits.target_size_bytes);
  const auto error = [](double units) { return units >= 1 ? 0 : (1 - units) * (1 - units); };
  double power = 0, bytes = 0, largest = 0, gain = 0;
  for (auto i : bin) {
    const auto size = static_cast<double>(sizes[i]);
    power += std::pow(size / target, limits.size_exponent);
    bytes += size;
    largest = std::max(largest, size);
    gain += error(size / target) - limits.file_cost - limits.byte_cost * size / target;
  }
  const double output = std::pow(power, 1 / limits.size_exponent);
  Score score{gain - error(output), true};
  const bool finished = output >= static_cast<double>(limits.healthy_size_bytes) / target;
  const bool grows =
      bin.size() >= static_cast<std::size_t>(limits.min_input_files) && bytes >= limits.growth_min * largest;
  score.feasible = bin.size() >= 2 && static_cast<std::int64_t>(bin.size()) <= limits.max_input_files &&
                   output <= static_cast<double>(limits.size_max_bytes) / target * (1 + 1e-12) && (finished || grows);
  return score;
}

inline double TotalValue(const std::vector<std::int64_t>& sizes, const std::vector<Bin>& bins,
                         const PackingLimits& limits) {
  double value = 0;
  for (const Bin& bin : bins) value += ScoreBin(sizes, bin, limits).value;
  return value;
}

/// Greatest value of all ways to cut the list into runs; `barrier` files stay alone.
inline double BestOrdered(const std::vector<std::int64_t>& sizes, const PackingLimits& limits) {
  double best = 0;
  const std::size_t n = sizes.size();
  for (std::uint32_t cuts = 0; cuts < (1U << (n - 1)); ++cuts) {
    double value = 0;
    bool feasible = true;
    Bin run{0};
    for (std::uint32_t i = 1; i <= n && feasible; ++i) {
      if (i < n && (cuts >> (i - 1) & 1) == 0) {
        run.push_back(i);
        continue;
      }
      if (run.size() > 1) {
        const Score score = ScoreBin(sizes, run, limits);
        feasible = score.feasible && std::all_of(run.begin(), run.end(),
                                                 [&](std::uint32_t f) { return sizes[f] < limits.healthy_size_bytes; });
        value += score.value;
      }
      run = {i};
    }
    if (feasible) best = std::max(best, value);
  }
  return best;
}

/// Greatest value of all set partitions.
inline void BestFree(const std::vector<std::int64_t>& sizes, const PackingLimits& limits, std::uint32_t next,
                     std::vector<Bin>& bins, double& best) {
  if (next == sizes.size()) {
    double value = 0;
    for (const Bin& bin : bins) {
      if (bin.size() < 2) continue;
      const Score score = ScoreBin(sizes, bin, limits);
      if (!score.feasible) return;
      value += score.value;
    }
    best = std::max(best, value);
    return;
  }
  for (std::size_t b = 0; b < bins.size(); ++b) {
    bins[b].push_back(next);
    BestFree(sizes, limits, next + 1, bins, best);
    bins[b].pop_back();
  }
  bins.push_back({next});
  BestFree(sizes, limits, next + 1, bins, best);
  bins.pop_back();
}

/// Sizes as tables have them: equal, tiny, spread over magnitudes, or anything below the target.
inline std::vector<std::int64_t> RandomSizes(Random& random, std::size_t count, std::int64_t target) {
  std::vector<std::int64_t> sizes(count);
  const auto kind = random.Below(5);
  const auto base = static_cast<double>(target);
  for (auto& size : sizes) {
    double units = random.NextUnit();
    if (kind == 1) units = 0.001 + 0.02 * units;
    if (kind == 2) units = std::exp(-7 * units);
    if (kind == 3) units = random.Below(4) == 0 ? 0.3 + 0.5 * units : 0.03 * units;
    if (kind == 4) units = 0.01 * static_cast<double>(1 + random.Below(3)) * static_cast<double>(1 + kind);
    size = std::max<std::int64_t>(1, static_cast<std::int64_t>(units * base));
  }
  return sizes;
}

}  // namespace firn::decide::oracle
