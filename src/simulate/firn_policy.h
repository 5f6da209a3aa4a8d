// SPDX-License-Identifier: Apache-2.0
//
// Firn's own policy: the state of partitions from the deltas of commits, noise, triage, plans and the backlog, as the
// service uses them.
//
// In: commits, finished jobs, a sweep every hour. Out: jobs.
// Guarantees: decides by orient::TableState, orient::Triage, orient::Diagnose, decide::Decide and decide::Arrange
//   alone. With `check` the state of each scanned partition is held against the scan: where it says that its numbers
//   are exact, they are.
// Cost: O(changed files) a commit that is quiet; about 500 bytes a table and 130 a partition.
// Errors: kInternal when a state is wrong. Threads: one owner.
// Source: docs/simulator.md; docs/noise-and-entropy.md.
#pragma once

#include <memory>

#include "simulate/baselines.h"
#include "simulate/merge_policy.h"

namespace firn::simulate {

std::unique_ptr<MergePolicy> MakeFirnPolicy(const PolicyOptions& options);

}  // namespace firn::simulate
