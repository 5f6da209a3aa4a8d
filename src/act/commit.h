// SPDX-License-Identifier: Apache-2.0
//
// The one path by which firn changes a table.
//
// In: a table, a branch, a change, and what the outside gives (catalog, files, clock, randomness, limits).
// Out: what happened, for certain or not, and every file that was left behind.
// Guarantees: the change is applied at most once. Every attempt starts from a freshly loaded base and looks first
//   whether the commit, or an equal one, is there already. After an answer that proves nothing the table is read
//   again; only the identical request is sent again; nothing is deleted as long as any attempt may
//   still be applied. A conflict is believed when somebody else's change is seen, or our own snapshot. Files are
//   deleted only when it is certain that no snapshot names them.
// Cost: per attempt one load, one list of manifests, and what the change writes.
// Errors (CommitReport::status): kConflict, kOutcomeUnknown, kUnavailable, kUnsupported, kCancelled, those of the
// change. Threads: one call a thread; several may run at once, also on the same table. Source: Iceberg table spec,
// "Commit Conflict Resolution and Retry", "Snapshots", "Snapshot Row IDs";
//   docs/decisions/0001.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "act/change.h"
#include "base/random.h"
#include "base/result.h"
#include "ports/catalog.h"
#include "ports/clock.h"
#include "ports/file_io.h"
#include "ports/processes.h"

namespace firn::act {

class RunJournal;

/// How often, and with which pauses. Pauses double from the shortest to the longest, and half of each is random.
/// The table's own commit.retry.* properties, where they are set, go before this.
struct RetryPolicy {
  int attempts_max = 20;  // new bases; with ten other writers four are too few
  int sends_max = 4;      // of the same request, as long as its outcome is unknown
  int lookups_max = 4;    // reloads after an unknown outcome before the request is sent again
  std::int64_t wait_min_ms = 100;
  std::int64_t wait_resend_ms = 1000;  // before the same request; throttling servers ask for a second or more
  std::int64_t wait_max_ms = 5000;
  std::int64_t total_ms = 30 * 60 * 1000;
};

struct CommitEnvironment {
  ports::Catalog& catalog;
  ports::FileIO& io;
  ports::Clock& clock;
  Random& random;
  RetryPolicy retry;
  const std::atomic<bool>* cancelled = nullptr;  // asked before every attempt
  const ports::Processes* processes = nullptr;   // null: runs are not marked, and what they leave is not looked for
  RunJournal* journal = nullptr;                 // of the run that commits; null: its files are not marked

  bool is_cancelled() const { return cancelled != nullptr && cancelled->load(); }
  /// For names of new files: of the run, if there is one.
  std::string NewFileUuid();
};

struct CommitTarget {
  ports::TableIdentifier table;
  std::string table_uuid;  // as planned; empty: of the first load
  std::string ref = "main";
};

struct CommitReport {
  Status status = Ok();
  std::optional<SnapshotId> snapshot_id;  // on success, if the change makes a snapshot
  /// The same work was in the table already, committed by somebody else: own files were removed.
  bool done_before = false;
  int attempts = 0;
  std::vector<std::string> leftover_files;
};

/// `policy` with commit.retry.num-retries, min-wait-ms, max-wait-ms and total-timeout-ms of the table.
Result<RetryPolicy> RetryPolicyOf(const iceberg::TableMetadata& metadata, RetryPolicy policy);

CommitReport Commit(CommitEnvironment& environment, const CommitTarget& target, Change& change);

/// Reasons for which firn does not write to a table at all: format version, encryption.
Status CheckWritable(const iceberg::TableMetadata& metadata);

/// kInvalidArgument if `ref` is a tag. A ref that does not exist is no error here.
Status CheckNoTag(const iceberg::TableMetadata& metadata, const std::string& ref);

}  // namespace firn::act
