// SPDX-License-Identifier: Apache-2.0
//
// How often a byte is rewritten while a table goes on growing by small commits, under one target size.
//
// In: what commits have added so far, a policy. Out: bytes rewritten for each byte added.
// Guarantees: played through with Decide itself, merging as soon as it finds something worth it; the same input gives
//   the same answer. Partitions end at the size that they have in the table.
// Cost: at most kIngestCommitsMax files in one partition, a plan every few of them: below 0.2 s. What is beyond counts
//   as not rewritten.
// Threads: pure.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "decide/cost.h"
#include "orient/policy.h"

namespace firn::decide {

inline constexpr std::int64_t kIngestCommitsMax = 4096;

/// Commits of others that add files, as the snapshots that are still there count them.
struct IngestHistory {
  std::int64_t commits = 0;
  std::int64_t files = 0, bytes = 0;  // that they added
  double days = 0;                    // from the first to the last of them

  std::int64_t file_bytes() const { return files > 0 ? bytes / files : 0; }
};

/// 0 when nothing has been added. `partition_bytes`: what a partition has at its end.
Result<double> RewritesPerByte(const IngestHistory& history, const orient::Policy& policy, const CostModel& cost,
                               std::int64_t partition_bytes);

}  // namespace firn::decide
