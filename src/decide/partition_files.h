// SPDX-License-Identifier: Apache-2.0
//
// Sorts a partition's files into those that may be merged and those that may not, and cuts the former into groups.
//
// In: Facts, Policy. Out: per partition the candidates in row order, refusals for blocked files, merge groups.
// Guarantees: candidates are small by their live rows and have no flag that the policy does not allow; groups are worth
//   their cost; a file that is due for its deletes is in a group.
// Cost: O(n log n) of the partition. Threads: pure.
// Source: docs/packing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "decide/decide.h"
#include "decide/packing_model.h"

namespace firn::decide {

/// Files of a partition by index into Facts::files. `candidates` is in row order: oldest data first.
struct PartitionFiles {
  std::uint32_t partition = 0;
  std::vector<std::uint32_t> all;
  std::vector<std::uint32_t> candidates;
  std::vector<std::uint32_t> folds;  // large files that are due for their deletes
};

/// First and one past the last file of each partition (Facts::files is grouped by partition).
std::vector<std::pair<std::uint32_t, std::uint32_t>> PartitionRanges(const observe::Facts& facts);

PartitionFiles SortOut(const observe::Facts& facts, const orient::Policy& policy, std::uint32_t partition,
                       std::pair<std::uint32_t, std::uint32_t> range);

/// Why small files with flags are left: one line a code.
std::vector<Refusal> RefuseBlocked(const observe::Facts& facts, const orient::Policy& policy,
                                   const PartitionFiles& files);

/// Groups when row order does not matter.
std::vector<MergeGroup> GroupFree(const observe::Facts& facts, const orient::Policy& policy,
                                  const PartitionFiles& files, const PackingModel& model, const CostModel& cost);

/// Groups of neighbours in key order; nullopt when the candidates' key ranges overlap or are not known. `ranges` is
/// parallel to files.all.
std::optional<std::vector<MergeGroup>> GroupOrdered(const observe::Facts& facts, const orient::Policy& policy,
                                                    const PartitionFiles& files,
                                                    std::span<const std::optional<KeyRange>> ranges,
                                                    const PackingModel& model, const CostModel& cost);

}  // namespace firn::decide
