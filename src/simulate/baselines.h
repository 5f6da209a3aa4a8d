// SPDX-License-Identifier: Apache-2.0
//
// The policies that firn's own is compared with: no merging, periodic, by number of small files, by entropy alone.
//
// Guarantees: each does what its name says with the defaults of the programs that do it so; jobs run in the order in
//   which they were found.
// Threads: one owner. Source: docs/simulator.md ("Policies").
#pragma once

#include <cstdint>
#include <memory>

#include "simulate/merge_policy.h"

namespace firn::simulate {

/// Never merges: what the others' read cost and file counts are measured against.
std::unique_ptr<MergePolicy> MakeNonePolicy();
/// Every `period_hours` all partitions of all tables are scanned and grouped as Spark does.
std::unique_ptr<MergePolicy> MakePeriodicPolicy(const PolicyOptions& options);
/// A partition is scanned and grouped as Spark does as soon as it has so many small files.
std::unique_ptr<MergePolicy> MakeThresholdPolicy(const PolicyOptions& options);
/// Each changed partition is scanned at each commit; above the tolerated entropy its small files are packed by
/// first-fit decreasing, bins of fewer than the policy's fewest files or the healthy size left out.
std::unique_ptr<MergePolicy> MakeEntropyPolicy(const PolicyOptions& options);
/// Each changed partition is scanned at each commit and planned by orient and decide: firn without its noise.
std::unique_ptr<MergePolicy> MakeEveryCommitPolicy(const PolicyOptions& options);

}  // namespace firn::simulate
