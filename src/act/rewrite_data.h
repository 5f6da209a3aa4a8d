// SPDX-License-Identifier: Apache-2.0
//
// Executes a plan that merges data files: reads, splices, checks and commits its groups.
//
// In: a plan, the facts that it was made from, the table's catalog and files. Out: an Outcome.
// Guarantees: inputs are read as the plan's snapshot names them; every output is opened again and checked, its rows
//   counted, before it is committed; a group that fails is reported and does not stop the others. Groups are divided
//   evenly, best first, into commits; a commit is made as soon as its last group has ended. Files of failed groups
//   and refused commits are removed, or named in Outcome::leftover_files.
// Cost: at most `threads` groups at a time, fewer when memory is small. `memory_bytes` bounds what the process takes:
//   itself, the plan with its facts (about 50 bytes a file of the table), 400 bytes a file that waits for its commit,
//   and the merges, which share the rest.
// Errors: kConflict when the plan does not fit the table any more (plan again); kUnsupported and kInvalidArgument
//   for tables and properties that firn must not or cannot serve; kLimit for too little memory. After work has begun
//   everything is in the Outcome.
// Threads: one call a thread; progress is called from the threads that work, one call at a time.
// Source: docs/decisions/0001, 0002; Iceberg table spec, "Data File Fields" (split_offsets, sort_order_id).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "act/commit.h"
#include "act/outcome.h"
#include "act/plan_pin.h"
#include "decide/plan.h"
#include "observe/facts.h"

namespace firn::act {

struct RewriteProgress {
  std::int64_t groups_done = 0, groups_total = 0;  // failed ones count as done
  std::int64_t bytes_done = 0, bytes_total = 0;    // of input files
  std::int64_t commits_done = 0, commits_total = 0;
};

/// A merge works with this much memory, whatever its files are, but for single pages that are larger than a tenth.
inline constexpr std::int64_t kMergeMemoryMin = std::int64_t{96} << 20;
/// With less, no table can be rewritten.
inline constexpr std::int64_t kRewriteMemoryMin = std::int64_t{192} << 20;

struct RewriteDataOptions {
  int threads = 1;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  /// Upper bound. A plan that is predicted to end within minutes is one commit.
  int max_commits = 10;
  /// "fast", "balanced" or "dense".
  std::string effort = "balanced";
  /// Of the service that works, for the summary; empty: a person does.
  std::string service_id = {};
  std::function<void(const RewriteProgress&)> progress = {};
  /// Whether the plan's snapshot is kept from expiry while the work runs.
  PinMode pin = PinMode::kAuto;
  /// How often commits of others are looked at while files are merged; absent: never. Groups that cannot be committed
  /// any more end then, and not when they are done.
  std::optional<std::int64_t> watch_interval_ms = std::nullopt;
};

/// `environment.cancelled` stops the work at the next page; groups that are not committed yet are given up.
Result<Outcome> RewriteData(CommitEnvironment& environment, const ports::TableIdentifier& table,
                            const decide::Plan& plan, const observe::Facts& facts, const RewriteDataOptions& options);

}  // namespace firn::act
