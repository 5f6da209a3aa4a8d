// SPDX-License-Identifier: Apache-2.0
//
// Whether a candidate may start: pauses, circuit breakers, quiet hours, running jobs, commits to its partitions,
// budgets.
//
// In: what Arrange gets. Out: a verdict a candidate, with the scope that it comes from and a time to look again.
// Guarantees: Admit is true to what has been started since: Start counts at once.
// Cost: O(1) a question, but for the overlap of partitions with running jobs of the same table. Threads: one owner.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "decide/backlog.h"

namespace firn::decide {

class Admission {
 public:
  /// Advances the clocks of the accounts and breakers that the candidates need.
  Admission(const BacklogInput& input, Ledger& ledger, Breakers& breakers);

  /// What cannot change while work is started: verdict, scope and not_before of `entry` are set. True if nothing
  /// speaks against it.
  bool CheckTable(QueueEntry& entry);
  /// What can; `entry.lane` is set. True if it may start: `piece` and `charged` are set then.
  bool Admit(QueueEntry& entry);
  /// Counts and charges an entry that Admit has let through.
  void Start(const QueueEntry& entry);

  std::uint32_t database(std::uint32_t candidate) const { return tables_[table_of_[candidate]].database; }
  std::size_t databases() const { return databases_.size(); }
  const std::string& database_name(std::uint32_t database) const { return *databases_[database].name; }
  double weight(std::uint32_t database) const { return databases_[database].weight; }

 private:
  struct Jobs {
    std::int32_t count = 0;
    TimestampMs first_end;  // of the running ones, as predicted
  };
  struct Database {
    const std::string* name = nullptr;
    Account* account = nullptr;
    double weight = 1;
    Jobs jobs = {};
    std::optional<TimestampMs> quiet_until = {};
  };
  struct Busy {
    const std::vector<CandidatePartition>* partitions = nullptr;
    TimestampMs end;
  };
  struct Table {
    std::uint32_t database = 0;
    Account* account = nullptr;
    CircuitBreaker* breaker = nullptr;
    BreakerState breaker_state = BreakerState::kClosed;
    Jobs jobs = {};
    std::vector<Busy> busy = {};
    std::optional<TimestampMs> quiet_until = {};
  };

  std::uint32_t AddDatabase(const std::string& name);
  std::uint32_t AddTable(const Candidate& candidate, Breakers& breakers);
  void SortDatabases();
  void AddRunning(const RunningJob& job);
  void Count(Jobs& jobs, TimestampMs end) const;
  TimestampMs PredictedEnd(TimestampMs started_at, double seconds) const;
  bool Refuse(QueueEntry& entry, Verdict verdict, Scope scope, TimestampMs not_before) const;
  bool CheckPartitions(QueueEntry& entry, const Candidate& candidate, const Table& table) const;
  bool CheckWrites(QueueEntry& entry, const Candidate& candidate, const Table& table) const;
  bool CheckBudget(QueueEntry& entry, const Account* account, const Jobs& jobs, Scope scope) const;
  void CutToBudget(QueueEntry& entry, const Candidate& candidate, const Account* account) const;

  const BacklogInput& input_;
  Ledger& ledger_;
  TimestampMs now_;
  Jobs jobs_;
  std::optional<TimestampMs> quiet_until_;
  std::vector<Database> databases_;
  std::vector<Table> tables_;
  std::vector<std::uint32_t> table_of_;  // of each candidate
  std::unordered_map<std::string_view, std::uint32_t> database_index_, table_index_;
};

}  // namespace firn::decide
