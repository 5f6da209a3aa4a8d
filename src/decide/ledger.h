// SPDX-License-Identifier: Apache-2.0
//
// Who may still spend how much: settings and accounts of everything, of databases and of tables.
//
// In: settings from policies; jobs that start and end. Out: accounts that decide/backlog.h asks and charges.
// Guarantees: a job is charged with its prediction when it starts and settled with what it has cost when it ends.
//   Credits and debts between databases and between lanes stay within one hour of work, so that a database that
//   was quiet for long cannot take everything afterwards, nor one that was underestimated wait for ever.
//   Accounts of tables and databases without settings and without debts are not kept.
// Cost: O(1) a call but for Prune. Threads: value type, one owner.
// Source: Shreedhar & Varghese 1995 (deficit round robin); Kubernetes KEP-1040 (a guess is charged, corrected later).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "decide/budget.h"
#include "decide/candidate.h"
#include "orient/quiet_hours.h"
#include "orient/service_policy.h"

namespace firn::decide {

enum class Scope { kEverything, kDatabase, kTable };
/// "everything", "database", "table".
std::string_view ScopeName(Scope scope);

/// Who goes first: work whose deadline would be missed, then what was asked for, then the rest.
enum class Lane { kDeadline, kRequest, kAutomatic };
inline constexpr std::size_t kLanes = 3;
/// "deadline", "request", "automatic".
std::string_view LaneName(Lane lane);

/// More than so many worker-seconds are neither owed nor owned between databases and between lanes.
inline constexpr double kCreditMaxSeconds = 3'600;

struct ScopeSettings {
  orient::BudgetLimits budget = {};
  orient::QuietHours quiet_hours = {};
  double weight = 1;  // of a database: its part of the work when there is too much
  bool paused = false;
  std::int32_t max_deferrals = 5;  // of a table

  friend bool operator==(const ScopeSettings&, const ScopeSettings&) = default;
};

struct Account {
  ScopeSettings settings;
  BudgetAccount budget;
};

/// A job that has started, with what it was charged.
struct RunningJob {
  std::string id;
  std::string table;
  std::string database;
  Action action = Action::kMerge;
  std::vector<CandidatePartition> partitions;
  Effect charged;  // when it started
  TimestampMs started_at;
};

struct Ledger {
  Account everything;
  std::unordered_map<std::string, Account> databases;
  std::unordered_map<std::string, Account> tables;
  /// Worker-seconds that a database may start (or, below 0, has had too much); 0 for those that are not here.
  std::unordered_map<std::string, double> credits;
  /// What the lanes below the first are owed of the work that went before them.
  std::array<double, kLanes> lane_credits = {};

  /// Settings of a scope; `name` is ignored for everything. Those that limit nothing remove the account.
  void Set(Scope scope, const std::string& name, ScopeSettings settings, TimestampMs now);
  const Account* Find(Scope scope, const std::string& name) const;

  /// `job`, that Arrange has charged, has ended and has cost `measured`; nothing if it never ran.
  void Settle(const RunningJob& job, const Effect& measured, TimestampMs now);
};

}  // namespace firn::decide
