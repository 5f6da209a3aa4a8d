// SPDX-License-Identifier: Apache-2.0
//
// The two ways to a partition's state: from all of its files, and from what a commit changed.
//
// In: facts of a scan; a delta. Out: the state after it.
// Guarantees: a state made from facts is exact, and equals what the partition's diagnosis says (orient.h); nothing is
//   pending in it unless the scan found something worth doing. Own changes make no noise; what they rewrite settles
//   what the last scan found. Counts do not wrap.
// Cost: O(files) and O(changed files). Threads: pure.
// Source: docs/deciding.md.
#pragma once

#include <cstdint>
#include <functional>

#include "observe/change.h"
#include "observe/facts.h"
#include "orient/partition_state.h"

namespace firn::orient {

/// One call a partition of the facts, in their order. The facts' files are grouped by partition.
void ForEachScanned(const observe::Facts& facts, const Policy& policy,
                    const std::function<void(const observe::PartitionFacts&, const PartitionState&)>& visit);

/// Whether a merge would remove enough by the policy, or files were due for their deletes at the last scan.
bool IsWorthDoing(const PartitionState& state, const Policy& policy);

/// `seconds`: when it happened (StateSeconds).
void ApplyDelta(const observe::PartitionDelta& delta, bool is_own, std::uint32_t seconds, const Policy& policy,
                PartitionState& state);

}  // namespace firn::orient
