// SPDX-License-Identifier: Apache-2.0
//
// Puts work that somebody has asked for before the work that was only found.
//
// In: a request; candidates of its table. Out: the same work, with the parts that were asked for marked.
// Guarantees: no partition is in more candidates of an action than before. A candidate of which only some partitions
//   were asked for is divided; its prediction is divided in proportion.
// Cost: O(partitions of the request x partitions of the candidates). Threads: pure; ids come from `random`.
// Errors: none.
#pragma once

#include <string>
#include <vector>

#include "base/random.h"
#include "decide/candidate.h"
#include "service/fleet_rows.h"

namespace firn::service {

/// Merging and folding are one action with one plan.
bool IsFor(const std::string& requested_action, decide::Action action);

/// How many candidates are what was asked for. Those get its cause, priority and deadline.
std::size_t Prefer(const NewRequest& request, std::vector<decide::Candidate>& candidates, Random& random);

}  // namespace firn::service
