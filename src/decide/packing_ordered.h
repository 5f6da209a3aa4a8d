// SPDX-License-Identifier: Apache-2.0
//
// Chooses which neighbouring files of a sorted partition to join, so that its key ranges stay disjoint.
//
// In: sizes of all files of the partition in key order; files that must not be touched are barriers.
// Out: bins of consecutive files, none across a barrier.
// Guarantees: the greatest total value (packing_model.h) of all ways to cut the list, exactly, for lists of at most
//   kExactFiles files; in longer lists, neighbours that have together less than 1/256 of the target count as one.
//   No bin's predicted output is above the cap, and none has more files than the limit; applying the bins and asking
//   again gives nothing, unless that limit ended a bin.
// Cost: O(n * w), w = items that fit into the largest output: at most 512 * cap / target in long lists.
// Threads: pure.
// Source: docs/packing.md; Knuth and Plass, "Breaking Paragraphs into Lines" (1981), for the shape of the programme.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decide/packing_model.h"

namespace firn::decide {

inline constexpr std::size_t kExactFiles = 2048;

/// `barrier[i]`: file i stays (healthy, or flagged). Empty: only files of at least the healthy size are barriers.
std::vector<Bin> PackOrdered(std::span<const PackingItem> files, const std::vector<bool>& barrier,
                             const PackingModel& model);
/// Of files without deletes.
std::vector<Bin> PackOrdered(std::span<const std::int64_t> sizes_bytes, const std::vector<bool>& barrier,
                             const PackingModel& model);

}  // namespace firn::decide
