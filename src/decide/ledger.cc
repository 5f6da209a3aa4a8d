// SPDX-License-Identifier: Apache-2.0
#include "decide/ledger.h"

#include <algorithm>
#include <cmath>

namespace firn::decide {
namespace {

template <class Visit>
void ForEachBudget(Ledger& ledger, const RunningJob& job, TimestampMs now, Visit visit) {
  auto one = [&](Account& account) {
    account.budget.Advance(now);
    visit(account.budget);
  };
  one(ledger.everything);
  if (const auto found = ledger.databases.find(job.database); found != ledger.databases.end()) one(found->second);
  if (const auto found = ledger.tables.find(job.table); found != ledger.tables.end()) one(found->second);
}

}  // namespace

std::string_view ScopeName(Scope scope) {
  static constexpr std::array<std::string_view, 3> kNames = {"everything", "database", "table"};
  return kNames[static_cast<std::size_t>(scope)];
}

std::string_view LaneName(Lane lane) {
  static constexpr std::array<std::string_view, kLanes> kNames = {"deadline", "request", "automatic"};
  return kNames[static_cast<std::size_t>(lane)];
}

void Ledger::Set(Scope scope, const std::string& name, ScopeSettings settings, TimestampMs now) {
  auto& accounts = scope == Scope::kDatabase ? databases : tables;
  if (scope != Scope::kEverything && settings == ScopeSettings{}) {
    accounts.erase(name);
    return;
  }
  Account& account = scope == Scope::kEverything ? everything : accounts[name];
  account.budget.Advance(now);
  account.budget.SetLimits(settings.budget, now);
  account.settings = std::move(settings);
}

const Account* Ledger::Find(Scope scope, const std::string& name) const {
  if (scope == Scope::kEverything) return &everything;
  const auto& accounts = scope == Scope::kDatabase ? databases : tables;
  const auto found = accounts.find(name);
  return found == accounts.end() ? nullptr : &found->second;
}

void Ledger::Settle(const RunningJob& job, const Effect& measured, TimestampMs now) {
  ForEachBudget(*this, job, now, [&](BudgetAccount& budget) { budget.Settle(job.charged, measured); });
  if (!std::isfinite(measured.seconds)) return;
  double& credit = credits[job.database];
  credit = std::clamp(credit + job.charged.seconds - measured.seconds, -kCreditMaxSeconds, kCreditMaxSeconds);
  if (credit == 0) credits.erase(job.database);
}

}  // namespace firn::decide
