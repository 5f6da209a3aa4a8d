// SPDX-License-Identifier: Apache-2.0
//
// Holds everything that the API and the dashboard show, as plain values with the API's own names.
//
// Guarantees: times are milliseconds since 1970 in UTC, 0 for never; sizes are bytes; sentences are made for people.
//   Nothing here is a secret: whoever fills it in leaves credentials out.
// Cost: a row is a few hundred bytes. Threads: value types.
// Source: docs/api.md; the words are those of the JSON members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decide/effect.h"

namespace firn::service {

inline constexpr double kNoScore = -1;

struct TableRow {
  enum class State { kOk, kPaused, kFailing, kUnreadable, kDropped };

  std::string id = {};  // "catalog/ns.name": stays while the table keeps its name
  std::string catalog = {};
  std::string name = {};  // "ns.name"
  std::string uuid = {};
  std::int32_t format_version = 0;
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t small_files = 0;
  std::int64_t removable_files = 0;
  std::int64_t delete_files = 0;
  double entropy = 0;       // sqrt(MSE) / target
  double score = kNoScore;  // health, 0 to 100; kNoScore until the table was scanned once
  std::int64_t partitions = 0;
  std::int64_t noisy_partitions = 0;
  std::int64_t last_snapshot_id = -1;
  std::int64_t last_commit_ms = 0;
  std::int64_t last_looked_ms = 0;
  State state = State::kOk;
  std::string state_reason = {};
  double priority = 1;
};

struct TrendPoint {
  std::int64_t ms = 0;
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  double entropy = 0;
};

/// Files by size: `edges` are the upper ends of all bars but the last, which has none.
struct Histogram {
  std::vector<std::int64_t> edges = {};
  std::vector<std::int64_t> before = {};  // when firn first saw the table; as long as `now`
  std::vector<std::int64_t> now = {};
};

/// Sums over the table's finished jobs.
struct Savings {
  std::int64_t jobs = 0;
  std::int64_t files = 0;               // data files and delete files that the table has less
  std::int64_t delete_reads_saved = 0;  // opens of delete files that one read of the whole table is spared
  std::int64_t bytes_rewritten = 0;
  double predicted_seconds = 0;
  double measured_seconds = 0;
  std::int64_t reads_saved = 0;
};

struct Breaker {
  std::string state = "closed";  // "closed", "open", "half-open"
  std::int64_t failures = 0;
  std::int64_t until_ms = 0;
  std::string reason = {};
};

struct SettingRow {
  std::string key = {};
  std::string value = {};
  std::string source = {};  // "default", "file", "property", "polaris", "forced by the file", ...
  std::string about = {};   // one sentence; may be empty
};

struct TableDetail {
  TableRow row = {};
  std::vector<SettingRow> settings = {};
  Breaker breaker = {};
  std::vector<TrendPoint> trends = {};  // oldest first, at most kTrendPointsMax
  Histogram histogram = {};
  Savings savings = {};
  std::int64_t analysed_ms = 0;  // when its newest analysis was made
};

struct PartitionRow {
  std::string text = {};  // "day=2024-01-01/region=eu"; "" for a table without partitions
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t small_files = 0;
  std::int64_t removable_files = 0;
  std::int64_t delete_files = 0;
  double entropy = 0;
  double noise = 0;  // 1 is the threshold
  std::int64_t last_change_ms = 0;
  std::int64_t last_scan_ms = 0;
  std::string verdict = {};  // "quiet", "calm", "scan"
  std::string reason = {};
};

/// `json` is the whole record as one JSON object; the other members are what it can be selected by.
struct DecisionRow {
  std::string id = {};  // ordered by time
  std::string table = {};
  std::string partition = {};
  std::string kind = {};
  std::int64_t time_ms = 0;
  std::string json = {};
};

struct QueueRow {
  std::int64_t position = 0;  // 1 starts next
  std::string table = {};
  std::string action = {};
  std::vector<std::string> partitions = {};
  double benefit = 0;
  double predicted_seconds = 0;
  std::int64_t predicted_bytes = 0;
  double priority = 1;
  std::int64_t created_ms = 0;
  std::int64_t deadline_ms = 0;
  std::string cause = {};  // "commit", "sweep", "request"
  double score = 0;        // what the queue is ordered by
  std::string why_here = {};
  std::int64_t not_before_ms = 0;
};

struct JobRow {
  enum class State { kWaiting, kRunning, kDone, kFailed, kCancelled, kLost };

  std::string id = {};  // ordered by time
  std::string table = {};
  std::string action = {};
  std::vector<std::string> partitions = {};
  State state = State::kWaiting;
  std::int64_t created_ms = 0;
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  std::string plan_id = {};
  decide::Effect predicted = {};
  std::optional<decide::Effect> measured = {};
  double progress = 0;  // of a running job, 0 to 1
  std::string error = {};
};

/// A finished job beside its promise, and the factor that the table's predictions are corrected by since.
struct OutcomeRow {
  std::string job = {};
  std::string table = {};
  std::string action = {};
  std::int64_t ended_ms = 0;
  decide::Effect predicted = {};
  decide::Effect measured = {};
  double cost_correction = 1;
};

/// The newest analysis of a table.
struct AnalysisRow {
  std::string table = {};
  std::string uuid = {};
  std::string job = {};
  std::int64_t made_ms = 0;
  std::string word = {};                   // "leave", "merge", "change-target", "change-target-and-merge"
  std::int64_t proposed_target_bytes = 0;  // what firn.analyze.apply puts into force; 0: nothing
  std::string json = {};                   // the whole analysis as one JSON object
};

/// The settings of one scope: "default", "catalog/db.*", a table.
struct PolicyRow {
  std::string scope = {};
  std::string source = {};
  std::vector<SettingRow> settings = {};
};

inline constexpr std::string_view kRequestScan = "scan";  // only look
/// What can be asked for: the names of decide's actions, and kRequestScan.
const std::vector<std::string>& RequestActions();

struct NewRequest {
  std::string table = {};
  std::string action = {};  // one of RequestActions()
  double priority = 1;
  std::int64_t deadline_ms = 0;  // 0: none
  std::vector<std::string> partitions = {};
};

struct RequestRow {
  std::string id = {};  // ordered by time
  NewRequest request = {};
  std::int64_t created_ms = 0;
  std::string state = {};  // "waiting", "queued", "running", "done", "refused", "failed"
  std::string reason = {};
  std::string job = {};
};

/// The whole fleet in one row; the counts since the state was first made.
struct FleetSummary {
  std::string version = {};
  std::int64_t started_ms = 0;
  bool paused = false;
  bool shadow = false;  // decides without acting
  std::int64_t tables = 0;
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t small_files = 0;
  std::int64_t removable_files = 0;
  double entropy = 0;  // mean, weighted by files
  std::int64_t tables_not_ok = 0;
  std::int64_t queue_length = 0;
  std::int64_t jobs_running = 0;
  // From commits to replaced files.
  std::int64_t commits_seen = 0;
  std::int64_t partitions_changed = 0;
  std::int64_t partitions_noisy = 0;
  std::int64_t partition_scans = 0;
  std::int64_t merges = 0;
  std::int64_t files_replaced = 0;
  std::int64_t bytes_rewritten = 0;
  // How well events work.
  std::int64_t events = 0;
  std::int64_t events_duplicate = 0;
  std::int64_t events_dropped = 0;
  std::int64_t snapshots_found_by_sweep_only = 0;
  std::int64_t staleness_bound_ms = 0;  // no commit is unseen for longer
  std::vector<TrendPoint> trends = {};  // oldest first, at most kTrendPointsMax
};

/// A figure for /metrics besides those of the summary.
struct Metric {
  std::string name = {};  // "firn_..."; counters end in "_total"
  std::string about = {};
  bool counter = false;
  std::vector<std::pair<std::string, std::string>> labels = {};
  double value = 0;
};

struct Readiness {
  bool ready = false;
  std::string reason = {};  // why not
};

inline constexpr std::size_t kTrendPointsMax = 500;

std::string_view Word(TableRow::State state);
std::string_view Word(JobRow::State state);
std::optional<JobRow::State> JobStateOf(std::string_view word);
std::optional<TableRow::State> TableStateOf(std::string_view word);

}  // namespace firn::service
