// SPDX-License-Identifier: Apache-2.0
//
// Optimizes one table from end to end: observe, orient, decide, act, and again where others were faster.
//
// In: a table's catalog, its files, options. Out: what was planned first and everything that happened.
// Guarantees: writes only through act/; groups that others overtook, and outputs that are small because a group may
//   have no more files, are planned anew on the current table, at most `rounds_max` times; max_bytes holds for what all
//   rounds read together, committed or not. Without need it writes nothing.
// Cost: one assessment and one rewrite a round.
// Errors: those of the first assessment, and of act/ before anything was written; afterwards all is in the Outcome.
// Threads: one call a thread; callbacks as in act/rewrite_data.h.
// Source: docs/architecture.md.
#pragma once

#include <cstdint>
#include <functional>

#include "act/rewrite_data.h"
#include "service/assess.h"

namespace firn::service {

struct OptimizeOptions {
  /// plan_id is set by the loop.
  AssessOptions assess = {};
  act::RewriteDataOptions rewrite = {};
  int rounds_max = 3;
  /// After each plan, before it is executed; `round` counts from 1.
  std::function<void(int round, const Assessment& assessment)> planned = {};
};

struct Optimized {
  Assessment first;      // what the first round found and planned
  act::Outcome outcome;  // of all rounds; failures are those that were not made up for
  int rounds = 0;        // that executed a plan
};

Result<Optimized> Optimize(act::CommitEnvironment& environment, const ports::TableIdentifier& table,
                           const OptimizeOptions& options);

}  // namespace firn::service
