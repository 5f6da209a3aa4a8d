// SPDX-License-Identifier: Apache-2.0
//
// Looks at one table after something may have happened to it: observe, orient, decide, as little of each as is needed.
//
// In: a table's catalog, what was known of it, its policy, the time. Out: what is known now, decisions with reasons,
// and
//   work that is worth doing.
// Guarantees: the truth is the catalog's; nothing of an event is believed. Without a new snapshot, and without anything
//   that has become old, only the metadata is loaded. A table that cannot be read keeps what was known of it and says
//   why. Nothing is written to the table.
// Cost: the metadata; the new manifests; the manifests of the partitions that have to be scanned.
// Threads: one look a table at a time; different tables in parallel.
// Errors: none of its own: they are the record's state and reason, and a decision. A look that was cancelled has
//   LookResult::error kCancelled and nothing else: the record is as it was, and the next look goes on from there.
// Source: docs/noise-and-entropy.md; docs/service.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "decide/candidate.h"
#include "decide/decision.h"
#include "orient/policy.h"
#include "orient/service_policy.h"
#include "orient/table_state.h"
#include "ports/cached_file_io.h"
#include "ports/catalog.h"
#include "service/fleet_policy.h"
#include "service/other_service.h"
#include "service/state_store.h"

namespace firn::service {

/// What a table's owner wants, put together from everywhere it can be said. `table`: "catalog/ns.name".
using TableSettingsOf = std::function<Result<TableSettings>(const std::string& table, const iceberg::TableMetadata&)>;

/// What the service knows of one table.
struct WatchedTable {
  TableRecord record;  // `partitions` is empty: `state` stands for it
  orient::TableState state;
  TableSettings wanted;  // as of the last look
  std::string location;  // likewise; empty: never loaded
  /// Name of a partition, by its key. Empty before the first look.
  std::function<std::string(std::string_view key)> text_of;
  bool has_histogram = false;
  /// Of the last full scan: its score less the estimate from sums. Absent: not known yet.
  std::optional<double> score_excess;
  std::int64_t failures = 0;        // looks in a row that could not read it
  std::int64_t gone_ms = 0;         // since when its catalog does not have it; 0: it has
  std::int64_t saved_ms = 0;        // when the partitions went to the state last
  std::int64_t saved_reads_ms = 0;  // the last scan that the state knows of
  /// What was worth doing was dropped, and has to be found again once the table can be read and may be changed.
  bool needs_full = false;
  OtherService others;
  bool has_settings = false;  // `wanted` is of a look of this run
};

struct LookOptions {
  std::string database;  // "catalog/ns"
  decide::Cause cause = decide::Cause::kCommit;
  /// Scan everything, whatever the numbers say.
  bool is_full = false;
  int threads = 1;
  /// Keeps what it reads of manifests for the next looks; null: nothing is kept. Borrowed.
  ports::FileCache* manifests = nullptr;
  /// Ends the look at its next read; may be set from any thread.
  const std::atomic<bool>* cancelled = nullptr;
  /// Of this run of the service, to tell its commits from another one's; empty: nobody asks.
  std::string service_id = {};
  /// Empty: the table's properties alone.
  TableSettingsOf settings_of = {};
};

/// How many commits led to how many scans.
struct LookCounts {
  std::int64_t commits = 0;      // new snapshots of others
  std::int64_t own_commits = 0;  // of firn
  std::int64_t partitions_changed = 0;
  std::int64_t partitions_noisy = 0;
  std::int64_t partition_scans = 0;  // because of noise
  std::int64_t table_scans = 0;      // of all partitions, for whatever reason
};

struct LookResult {
  std::vector<decide::Decision> decisions;
  /// Instead of what was worth doing before, for the partitions that were scanned; absent: nothing was scanned.
  std::optional<std::vector<decide::Candidate>> candidates;
  std::vector<std::string> scanned_keys;    // empty, with candidates: all partitions
  std::vector<decide::Candidate> analyses;  // that were asked for
  std::optional<TrendPoint> trend;
  LookCounts counts;
  std::optional<Error> error;                // why it could not be read
  bool is_gone = false;                      // the catalog does not have it any more
  bool is_replaced = false;                  // another table has the name: what was learned is of the old one
  bool is_full = false;                      // all partitions were scanned
  std::optional<std::string> other_service;  // has committed since the last look
  bool is_unchanged = false;                 // nothing is new but the time of the look
};

LookResult Look(ports::Catalog& catalog, const ports::TableIdentifier& id, const LookOptions& options, Random& random,
                TimestampMs now, WatchedTable& table);

/// The row's sums from the state of its partitions, under the policy of the last look.
void SumPartitions(TimestampMs now, WatchedTable& table);
/// `settings_of`, or the table's properties alone where it is empty.
Result<TableSettings> SettingsOf(const TableSettingsOf& settings_of, const std::string& table,
                                 const iceberg::TableMetadata& metadata);

}  // namespace firn::service
