// SPDX-License-Identifier: Apache-2.0
//
// Executes a plan that rewrites delete files: reads them, writes what takes their place, commits.
//
// In: a plan, the facts that it was made from, the table's catalog and files. Out: a DeleteOutcome.
// Guarantees: rows that a reader sees are the same before and after; data files stay, and with them row ids. A delete
//   file that could not be read, or a data file whose rows could not, is reported and does not stop the others. Files
//   that are not committed are removed, or named in DeleteOutcome::leftover_files.
// Cost: see delete_batches.h and delete_change.h; one commit. `memory_bytes` bounds what the process takes: itself, the
//   facts (about 400 bytes a data file with deletes, 1 KiB a delete file), and the work, which gets the rest.
// Errors: kConflict when the plan does not fit the table any more (plan again); kUnsupported and kInvalidArgument for
//   tables that firn must not write; kLimit for too little memory. After work has begun everything is in the outcome.
// Threads: one call a thread; progress is called by one thread at a time.
// Source: Iceberg table spec, "Row-level Deletes"; docs/decisions/0004.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "act/commit.h"
#include "act/delete_outcome.h"
#include "act/plan_pin.h"
#include "decide/delete_rewrite.h"
#include "observe/delete_facts.h"

namespace firn::act {

/// With less, no table's deletes can be rewritten.
inline constexpr std::int64_t kRewriteDeletesMemoryMin = std::int64_t{128} << 20;

struct RewriteDeletesOptions {
  int threads = 1;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  /// Data files whose deletes are read together, at most; fewer where memory asks for it.
  std::size_t batch_files_max = 100'000;
  /// Of the service that works, for the summary; empty: a person does.
  std::string service_id = {};
  /// Whether the plan's snapshot is kept from expiry while the work runs.
  PinMode pin = PinMode::kAuto;
  /// Bytes of data files whose deletes were read.
  std::function<void(std::int64_t done_bytes, std::int64_t total_bytes)> progress = {};
};

/// `environment.cancelled` stops the work between two batches of rows; nothing is committed then.
Result<DeleteOutcome> RewriteDeletes(CommitEnvironment& environment, const ports::TableIdentifier& table,
                                     const decide::DeletePlan& plan, const observe::DeleteFacts& facts,
                                     const RewriteDeletesOptions& options);

}  // namespace firn::act
