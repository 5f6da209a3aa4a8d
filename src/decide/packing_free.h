// SPDX-License-Identifier: Apache-2.0
//
// Chooses which small files of a partition to join, when their order does not matter.
//
// In: sizes of the files that may be merged, in row order (oldest first). Out: bins, each at least two files.
// Guarantees: no file is in two bins; no bin's predicted output is above the cap; each bin is worth its cost; the
//   same input gives the same output; applying the bins and asking again gives nothing, unless a bin had to be
//   divided for its number of files (bin_division.h). Never more replaced files
//   than plain first-fit decreasing for the same final error. Small files keep together with their neighbours in
//   row order, so that natural clustering (by time of arrival) survives.
// Cost: O(n log n) a round; rounds end after a few because each one leaves far fewer files.
// Threads: pure.
// Source: docs/packing.md; first-fit decreasing (Johnson 1973), changed as docs/packing.md says.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decide/packing_model.h"

namespace firn::decide {

/// When a partition is good enough: the mean squared error over all its files, those not offered included.
struct PackingGoal {
  double mean_squared_error = 0;  // in target^2
  std::int64_t other_files = 0;   // files of the partition that were not offered
  double other_error = 0;         // their squared error
};

/// Without a goal: everything that is worth its cost. With one: the fewest files that reach it, if it can be reached.
std::vector<Bin> PackFree(std::span<const PackingItem> files, const PackingModel& model,
                          const std::optional<PackingGoal>& goal = std::nullopt);
/// Of files without deletes.
std::vector<Bin> PackFree(std::span<const std::int64_t> sizes_bytes, const PackingModel& model,
                          const std::optional<PackingGoal>& goal = std::nullopt);

/// Plain first-fit decreasing up to the cap, bins of one file left out: the baseline.
std::vector<Bin> PackFirstFitDecreasing(std::span<const std::int64_t> sizes_bytes, const PackingModel& model);

}  // namespace firn::decide
