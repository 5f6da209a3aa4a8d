// SPDX-License-Identifier: Apache-2.0
//
// What the service remembers between two runs: tables, decisions, jobs, requests, analyses. One SQLite file.
//
// In: records. Out: the same after a restart, in pages where there are many.
// Guarantees: each call is one transaction that is on disk when it returns, so a killed process loses nothing that was
//   acknowledged. Nothing in it is needed for correctness: without it every table is looked at anew. Decisions are
//   bounded by decisions_max, trends by kTrendPointsMax a table, ended jobs and requests by jobs_max: the oldest go.
// Cost: one fsync a writing call. Opening: all tables are read.
// Threads: any.
// Errors: kCorrupt (no state file of ours, or a damaged one), kUnsupported (of a newer version), kLimit (disk full),
//   kUnavailable; kNotFound for ids; kInvalidArgument for cursors that are not ours.
// Source: docs/service.md; https://sqlite.org/wal.html
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decide/decision.h"
#include "ports/posix.h"
#include "ports/sqlite_database.h"
#include "service/fleet_view.h"

namespace firn::service {

struct TableRecord {
  TableRow row;
  bool paused = false;
  bool has_work = false;  // that was found and not done: after a restart it has to be found again
  Histogram histogram;
  Savings savings;
  std::string learned;     // cost correction, breaker and rate of reads, as JSON text
  std::string partitions;  // TableState::Serialize; empty: unknown
};

/// What is known of a table beside its partitions.
struct TableMemory {
  TableRow row;
  std::string learned;
};

/// Everything that one look at a table, or one job of it, adds. Absent members are not written.
struct StateUpdate {
  const TableRecord* table = nullptr;
  bool has_partitions = true;         // false: those of `table`, and its histogram, stay as they are in the state
  const TrendPoint* trend = nullptr;  // of `table`
  std::vector<decide::Decision> decisions;
  const JobRow* job = nullptr;
  const AnalysisRow* analysis = nullptr;  // takes the place of the table's older one
  std::vector<RequestRow> requests;
  /// It has happened already: where it cannot be written now, its job, requests and decisions are written with the next
  /// update that can. Of at most kKeptMax each; decisions beyond it are lost.
  bool is_kept = false;
};

inline constexpr std::size_t kKeptMax = 1'000;

struct StateLimits {
  std::int64_t decisions_max = 200'000;
  std::int64_t jobs_max = 50'000;
};

class StateStore {
 public:
  /// Makes the file and its folder, readable by their owner only. ":memory:" for a state that ends with the process.
  /// kInvalidArgument while another process has it.
  static Result<std::unique_ptr<StateStore>> Open(const std::string& path, const StateLimits& limits = {});
  /// For reading beside a service that runs; kNotFound if there is no file.
  static Result<std::unique_ptr<StateStore>> OpenToRead(const std::string& path);

  /// All or nothing. The decisions get their ids.
  Status Write(StateUpdate& update);
  Status RemoveTable(std::string_view id);
  /// Of everything where `table` is empty.
  Status AddTrend(const std::string& table, const TrendPoint& point);
  /// Drops what is beyond the limits.
  Status Prune();

  Result<std::vector<TableRecord>> Tables();
  /// Of the same tables, without what is large.
  Result<std::vector<TableRow>> TableRows();
  /// Of all tables, without the whole JSON.
  Result<std::vector<AnalysisRow>> Analyses();
  Result<AnalysisRow> Analysis(std::string_view table);
  Status RemoveAnalysis(std::string_view table);
  Result<TableMemory> Memory(std::string_view table);
  Result<std::vector<TrendPoint>> Trends(std::string_view table);
  /// Newest first.
  Result<Page<DecisionRow>> Decisions(const DecisionFilter& filter, const PageOf& page);
  Result<Page<JobRow>> Jobs(const JobFilter& filter, const PageOf& page);
  Result<JobRow> Job(std::string_view id);
  /// Ended jobs; each has a measured effect.
  Result<Page<JobRow>> EndedJobs(std::string_view table_or_empty, const PageOf& page);
  Result<Page<RequestRow>> Requests(const PageOf& page);
  /// Those that are not ended, oldest first.
  Result<std::vector<RequestRow>> OpenRequests();

  /// Small values by name: pause, counters.
  Result<std::string> Get(std::string_view name);
  Status Set(std::string_view name, std::string_view value);

 private:
  StateStore(std::unique_ptr<ports::SqliteDatabase> database, const StateLimits& limits)
      : database_(std::move(database)), limits_(limits) {}
  Status Prepare();
  void AddKept(const StateUpdate& update, std::vector<ports::SqlStatement>& statements) const;
  void Keep(const StateUpdate& update);

  ports::FileDescriptor lock_;  // closed after the database: closing any descriptor of a file ends SQLite's locks on it
  std::unique_ptr<ports::SqliteDatabase> database_;
  StateLimits limits_;
  std::mutex mutex_;  // of what follows
  std::int64_t next_decision_ = 0;
  // What could not be written yet.
  std::map<std::string, JobRow> kept_jobs_;  // by id
  std::map<std::string, RequestRow> kept_requests_;
  std::vector<decide::Decision> kept_decisions_;
};

}  // namespace firn::service
