// SPDX-License-Identifier: Apache-2.0
//
// Rewrites the delete files of one table from end to end: observe, decide, act, and again where others were faster.
//
// In: a table's catalog, its files, options. Out: what was planned first and everything that happened.
// Guarantees: writes only through act/. Without need it writes nothing, but the format version that was asked for.
// Conflicts are planned anew on the current table,
//   at most `rounds_max` times.
// Cost: per round one pass over the manifests, and what the plan reads.
// Errors: those of the first round before anything was written; afterwards all is in the outcome.
// Threads: one call a thread; callbacks as in act/rewrite_deletes.h.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "act/rewrite_deletes.h"
#include "decide/delete_rewrite.h"
#include "observe/delete_files.h"

namespace firn::service {

struct DeleteAssessment {
  observe::DeleteFacts facts;
  decide::DeletePlan plan;
};

struct RewriteDeletesOptions {
  std::string ref = "main";
  /// Raise the table to this format version first, so that deletes become vectors.
  std::optional<std::int32_t> format_version = std::nullopt;
  /// plan_id is set by the loop.
  decide::DeleteRewriteOptions plan = {};
  act::RewriteDeletesOptions rewrite = {};
  int rounds_max = 3;
  /// After each plan, before it is executed; `round` counts from 1.
  std::function<void(int round, const DeleteAssessment& assessment)> planned = {};
};

struct RewrittenDeletes {
  DeleteAssessment first;      // what the first round found and planned
  act::DeleteOutcome outcome;  // of all rounds; failures are those of the last one
  int rounds = 0;              // that executed a plan
  bool is_upgraded = false;    // the format version was raised
};

/// As the table would be with options.format_version; nothing is written.
Result<DeleteAssessment> AssessDeletes(const ports::LoadedTable& table, ports::FileIO& io,
                                       const RewriteDeletesOptions& options);

Result<RewrittenDeletes> RewriteDeletes(act::CommitEnvironment& environment, const ports::TableIdentifier& table,
                                        const RewriteDeletesOptions& options);

}  // namespace firn::service
