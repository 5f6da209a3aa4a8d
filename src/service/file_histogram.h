// SPDX-License-Identifier: Apache-2.0
//
// Counts a table's files by size, kept up by the changes of commits.
//
// In: facts of a whole table; deltas. Out: counts between powers of two from 64 KiB to 1 GiB.
// Guarantees: after deltas the counts are those of a new count, never below 0.
// Cost: O(files) and O(changed files). Threads: pure.
#pragma once

#include "observe/change.h"
#include "observe/facts.h"
#include "service/fleet_rows.h"

namespace firn::service {

/// Counts anew; `is_first`: the same goes into `before`.
void SetHistogram(const observe::Facts& facts, bool is_first, Histogram& histogram);
/// Without effect on a histogram that was never set.
void CountFiles(const observe::PartitionDelta& delta, Histogram& histogram);

}  // namespace firn::service
