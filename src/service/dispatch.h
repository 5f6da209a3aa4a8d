// SPDX-License-Identifier: Apache-2.0
//
// The queue of work that is worth doing, and the workers that do it.
//
// In: candidates of tables. Out: jobs, in the order of decide/backlog.h; their outcomes.
// Guarantees: what is found of a table takes the place of what was found of the same partitions before, and keeps its
//   age. A job is in the state before it begins and after it has ended; while the state cannot be written none begins.
//   Failures and work that does not pay make a table wait, with the reason. Why a candidate waits is a decision
//   whenever it changes. A candidate that CheckCandidate refuses is a decision and nothing else: of numbers that are
//   none no order can be made.
// Cost: O(n log n) a choice. Memory: the workers share memory_bytes.
// Threads: `workers` of its own; every call from any. A caller that holds a table's mutex may call; callbacks are made
//   without any mutex.
// Errors: Start: kLimit, a thread cannot be started; else none: they are jobs' errors and decisions.
// Source: docs/deciding.md; docs/service.md.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "decide/backlog.h"
#include "decide/cost_correction.h"
#include "ports/clock.h"
#include "ports/processes.h"
#include "service/analyses.h"
#include "service/fleet_tables.h"
#include "service/fleet_view.h"
#include "service/state_store.h"
#include "service/work.h"

namespace firn::service {

struct DispatchOptions {
  int workers = 1;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  bool shadow = false;
  std::uint64_t seed = 0;
  TableSettingsOf settings_of = {};
  std::string service_id = {};  // of this run
  std::shared_ptr<Analyses> analyses = std::make_shared<Analyses>();
  std::string scratch = {};  // of analyses
  const ports::Processes* processes = nullptr;
};

/// What has become of a job.
struct JobNews {
  JobRow job;
  bool has_ended = false;
  bool is_unfinished = false;  // something was left: its table should be read anew
  std::int64_t wait_ms = 0;    // before that
};

class Dispatch {
 public:
  Dispatch(StateStore& store, FleetTables& tables, FleetNews& news, ports::Clock& clock, DispatchOptions options,
           std::function<void(const JobNews&)> tell);
  ~Dispatch();
  const DispatchOptions& options() const { return options_; }
  Status Start();
  /// Running jobs end at their next page.
  void Stop();

  /// `scanned`: keys of the partitions that the candidates stand for all work of; empty: the whole table.
  void Offer(const std::string& table, std::vector<decide::Candidate> candidates, std::span<const std::string> scanned);
  /// An analysis, which waits apart from what is found in the table. One that waits already becomes the more urgent of
  /// both; one that runs already is enough.
  void OfferAnalysis(decide::Candidate candidate);
  /// The table is gone, or another one has its name.
  void Forget(const std::string& table);
  void SetSettings(decide::Scope scope, const std::string& name, decide::ScopeSettings settings);
  void SetPaused(bool is_paused);
  /// No job of the table starts for so long; then one is let through, as after a failure.
  void LeaveAlone(const std::string& table, std::int64_t wait_ms, std::string reason);
  void SetStateWritable(bool is_writable);
  bool is_state_writable() const;

  /// Something of the table waits, runs, or was only decided.
  bool HasWork(const std::string& table) const;

  struct Figures {
    std::int64_t waiting = 0, running = 0, merges = 0, files_replaced = 0, bytes_rewritten = 0;
    bool is_paused = false;
  };
  Figures figures() const;
  std::vector<QueueRow> Queue();
  void AddProgress(JobRow& job) const;
  /// What was learned of a table, for the state, and back.
  std::string Learned(const std::string& table) const;
  void Restore(const std::string& table, std::string_view learned);
  /// What was spent of the budgets, for the state, and back once their settings are known.
  std::string Spent() const;
  void RestoreSpent(std::string_view spent);
  /// The breaker, and a failing state where it is one.
  void Describe(const std::string& table, TableDetail& detail) const;
  double CorrectionOf(const std::string& table, std::string_view action) const;

 private:
  struct Job {
    decide::RunningJob running;
    decide::Candidate candidate;
    double uncorrected_seconds = 0;
    std::optional<decide::Piece> piece;
    JobRow row;
    std::atomic<double> progress = 0;
  };
  /// A candidate with what the cost model said before it was corrected, and why it waited last.
  struct Waiting {
    double uncorrected_seconds = 0;
    std::string noted;
  };

  void RunWorker(Random random);
  bool Takes(const decide::Candidate& candidate);
  void NoteChange();
  void RestoreAccount(decide::Scope scope, const std::string& name, const decide::ScopeSettings& settings);
  std::shared_ptr<Job> Choose(Random& random, std::uint64_t& seen);
  std::shared_ptr<Job> Begin(const decide::QueueEntry& entry, Random& random, std::vector<decide::Decision>& decisions);
  void NoteWaiting(const std::vector<decide::QueueEntry>& entries, std::vector<decide::Decision>& decisions);
  void Drop(std::size_t index);
  void Do(Job& job, Random& random);
  void End(Job& job, const WorkResult& result);
  void Learn(const Job& job, const WorkResult& result, TimestampMs now);
  void AddSavings(const Job& job, const WorkResult& result);
  decide::BacklogInput Input(TimestampMs now, int starts_max) const;

  StateStore& store_;
  FleetTables& tables_;
  FleetNews& news_;
  ports::Clock& clock_;
  const DispatchOptions options_;
  const std::function<void(const JobNews&)> tell_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<decide::Candidate> candidates_;
  std::unordered_map<std::string, Waiting> waiting_;  // by candidate id
  std::map<std::string, std::shared_ptr<Job>, std::less<>> jobs_;
  std::vector<decide::RunningJob> running_;
  decide::Ledger ledger_;
  decide::Breakers breakers_;
  std::unordered_map<std::string, decide::CostCorrection> corrections_;
  Figures figures_;
  std::string spent_;                         // of an earlier run, for accounts that are made later
  std::unordered_set<std::string> shadowed_;  // tables with work that was decided and not done
  bool is_writable_ = true;
  std::uint64_t changes_ = 0;  // of what a choice depends on
  std::int64_t wait_ms_ = 0;   // until something may start, as of the last choice
  std::atomic<bool> stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace firn::service
