// SPDX-License-Identifier: Apache-2.0
#include "decide/admission.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace firn::decide {
namespace {

/// Partitions that are written less often than this are never waited for.
constexpr std::int64_t kWrittenOftenMs = 600'000;
constexpr std::int64_t kDeferralMinMs = 1'000, kDeferralMaxMs = 900'000;
/// So many intervals without a commit, and the partition is taken to be quiet.
constexpr std::int64_t kQuietIntervals = 3;
constexpr std::int32_t kDoublingsMax = 20;

TimestampMs Later(TimestampMs time, std::int64_t ms) { return {time.value + ms}; }

/// How long a partition that is written every `interval_ms` is left alone for the next time.
std::int64_t DeferralMs(std::int64_t interval_ms, std::int32_t deferrals) {
  const std::int64_t first = std::clamp(2 * interval_ms, kDeferralMinMs, kDeferralMaxMs);
  return std::min(first << std::min(deferrals, kDoublingsMax), kDeferralMaxMs);
}

bool IsBeingWritten(const Candidate& candidate, TimestampMs now) {
  if (!candidate.write_interval_ms || *candidate.write_interval_ms > kWrittenOftenMs) return false;
  // A writer whose clock is ahead has written just now.
  return now.value - candidate.last_write_at.value <= kQuietIntervals * *candidate.write_interval_ms;
}

/// Makes the piece smaller, or the first one, but not smaller than the least that can be done alone.
void Cut(QueueEntry& entry, const Candidate& candidate, double seconds_max, double bytes_max) {
  const Effect& whole = candidate.predicted;
  seconds_max = std::max(seconds_max, candidate.piece_seconds);
  bytes_max = std::max(bytes_max, static_cast<double>(candidate.piece_bytes));
  if (whole.seconds <= seconds_max && static_cast<double>(whole.bytes) <= bytes_max) return;
  if (!entry.piece) entry.piece = Piece{.seconds_max = whole.seconds, .bytes_max = whole.bytes};
  entry.piece->seconds_max = std::min(entry.piece->seconds_max, seconds_max);
  const double bytes = std::min(static_cast<double>(entry.piece->bytes_max), bytes_max);
  entry.piece->bytes_max = static_cast<std::int64_t>(bytes);
}

/// Both of its limits hold for the piece.
Effect Charged(const QueueEntry& entry, const Candidate& candidate) {
  const Effect& whole = candidate.predicted;
  if (!entry.piece) return whole;
  double part = 1;
  if (whole.seconds > 0) part = std::min(part, entry.piece->seconds_max / whole.seconds);
  if (whole.bytes > 0) {
    part = std::min(part, static_cast<double>(entry.piece->bytes_max) / static_cast<double>(whole.bytes));
  }
  return PartOf(whole, part);
}

}  // namespace

Admission::Admission(const BacklogInput& input, Ledger& ledger, Breakers& breakers)
    : input_(input), ledger_(ledger), now_(input.now) {
  ledger_.everything.budget.Advance(now_);
  quiet_until_ = QuietUntil(ledger_.everything.settings.quiet_hours, now_);
  table_of_.reserve(input.candidates.size());
  for (const Candidate& candidate : input.candidates) table_of_.push_back(AddTable(candidate, breakers));
  SortDatabases();
  for (const RunningJob& job : input.running) AddRunning(job);
}

/// Numbers follow the names: who has a turn first must not depend on the order of the candidates.
void Admission::SortDatabases() {
  std::vector<std::uint32_t> by_name(databases_.size()), number(databases_.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::ranges::sort(by_name, {}, [this](std::uint32_t i) -> const std::string& { return *databases_[i].name; });
  std::vector<Database> sorted;
  for (const std::uint32_t i : by_name) {
    number[i] = static_cast<std::uint32_t>(sorted.size());
    sorted.push_back(databases_[i]);
  }
  databases_ = std::move(sorted);
  for (auto& [name, index] : database_index_) index = number[index];
  for (Table& table : tables_) table.database = number[table.database];
}

std::uint32_t Admission::AddDatabase(const std::string& name) {
  const auto [found, added] = database_index_.try_emplace(name, static_cast<std::uint32_t>(databases_.size()));
  if (!added) return found->second;
  Database database{.name = &name};
  if (const auto account = ledger_.databases.find(name); account != ledger_.databases.end()) {
    database.account = &account->second;
    database.account->budget.Advance(now_);
    database.weight = std::clamp(account->second.settings.weight, orient::kPriorityMin, orient::kPriorityMax);
    database.quiet_until = QuietUntil(account->second.settings.quiet_hours, now_);
  }
  databases_.push_back(std::move(database));
  return found->second;
}

std::uint32_t Admission::AddTable(const Candidate& candidate, Breakers& breakers) {
  const std::uint32_t index = static_cast<std::uint32_t>(tables_.size());
  const auto [found, added] = table_index_.try_emplace(candidate.table, index);
  if (!added) return found->second;
  Table table{.database = AddDatabase(candidate.database)};
  if (const auto account = ledger_.tables.find(candidate.table); account != ledger_.tables.end()) {
    table.account = &account->second;
    table.account->budget.Advance(now_);
    table.quiet_until = QuietUntil(account->second.settings.quiet_hours, now_);
  }
  if (const auto breaker = breakers.find(candidate.table); breaker != breakers.end()) {
    table.breaker = &breaker->second;
    table.breaker_state = breaker->second.State(now_);
  }
  tables_.push_back(std::move(table));
  return index;
}

void Admission::AddRunning(const RunningJob& job) {
  const TimestampMs end = PredictedEnd(job.started_at, job.charged.seconds);
  Count(jobs_, end);
  if (const auto found = database_index_.find(job.database); found != database_index_.end()) {
    Count(databases_[found->second].jobs, end);
  }
  if (const auto found = table_index_.find(job.table); found != table_index_.end()) {
    Table& table = tables_[found->second];
    Count(table.jobs, end);
    table.busy.push_back({&job.partitions, end});
  }
}

void Admission::Count(Jobs& jobs, TimestampMs end) const {
  jobs.first_end = jobs.count == 0 ? end : std::min(jobs.first_end, end);
  ++jobs.count;
}

TimestampMs Admission::PredictedEnd(TimestampMs started_at, double seconds) const {
  // A job that takes longer than predicted ends soon; one that started in the future has started now.
  const double ms = std::clamp(seconds * 1000, 0.0, static_cast<double>(kLookAgainMs));
  const TimestampMs end = Later(std::min(started_at, now_), static_cast<std::int64_t>(ms));
  return NoLater(std::max(end, Later(now_, 1'000)), now_);
}

bool Admission::Refuse(QueueEntry& entry, Verdict verdict, Scope scope, TimestampMs not_before) const {
  entry.verdict = verdict;
  entry.scope = scope;
  entry.not_before = NoLater(std::max(not_before, now_), now_);
  return false;
}

bool Admission::CheckTable(QueueEntry& entry) {
  const Candidate& candidate = input_.candidates[entry.candidate];
  const Table& table = tables_[table_of_[entry.candidate]];
  const Database& database = databases_[table.database];
  const TimestampMs look_again = Later(now_, kLookAgainMs);
  auto paused = [](const Account* account) { return account != nullptr && account->settings.paused; };
  if (paused(&ledger_.everything)) return Refuse(entry, Verdict::kPaused, Scope::kEverything, look_again);
  if (paused(database.account)) return Refuse(entry, Verdict::kPaused, Scope::kDatabase, look_again);
  if (paused(table.account)) return Refuse(entry, Verdict::kPaused, Scope::kTable, look_again);
  if (candidate.cause == Cause::kRequest) return true;  // a person knows what hour it is, and that it failed before
  const bool may_gain = Benefit(candidate.predicted) > 0 || candidate.action == Action::kAnalyze;
  if (!may_gain) return Refuse(entry, Verdict::kNoBenefit, Scope::kTable, look_again);
  if (table.breaker_state == BreakerState::kOpen) {
    return Refuse(entry, Verdict::kBackingOff, Scope::kTable, table.breaker->RetryAt());
  }
  if (quiet_until_) return Refuse(entry, Verdict::kQuietHours, Scope::kEverything, *quiet_until_);
  if (database.quiet_until) return Refuse(entry, Verdict::kQuietHours, Scope::kDatabase, *database.quiet_until);
  if (table.quiet_until) return Refuse(entry, Verdict::kQuietHours, Scope::kTable, *table.quiet_until);
  return true;
}

bool Admission::CheckPartitions(QueueEntry& entry, const Candidate& candidate, const Table& table) const {
  for (const Busy& busy : table.busy) {
    if (Overlaps(*busy.partitions, candidate.partitions)) {
      return Refuse(entry, Verdict::kPartitionBusy, Scope::kTable, busy.end);
    }
  }
  const bool probing = table.breaker_state == BreakerState::kHalfOpen && table.jobs.count > 0;
  if (probing && candidate.cause != Cause::kRequest) {
    return Refuse(entry, Verdict::kProbing, Scope::kTable, table.jobs.first_end);
  }
  return true;
}

bool Admission::CheckWrites(QueueEntry& entry, const Candidate& candidate, const Table& table) const {
  if (!IsBeingWritten(candidate, now_)) return true;
  const double fits_seconds = static_cast<double>(*candidate.write_interval_ms) / 1000 * kQuietIntervalPart;
  if (candidate.predicted.seconds <= fits_seconds) return true;
  const bool divides = candidate.piece_seconds > 0;
  const std::int32_t deferrals_max =
      table.account ? table.account->settings.max_deferrals : ScopeSettings{}.max_deferrals;
  // A time too far ahead was set before the clock went back.
  const bool waits = now_ < candidate.deferred_until && candidate.deferred_until.value - kDeferralMaxMs <= now_.value;
  const bool may_wait = entry.lane == Lane::kAutomatic && (waits || candidate.deferrals < deferrals_max);
  if (may_wait && !(divides && candidate.piece_seconds <= fits_seconds)) {
    entry.defers = !waits;
    const TimestampMs until =
        waits ? candidate.deferred_until : Later(now_, DeferralMs(*candidate.write_interval_ms, candidate.deferrals));
    return Refuse(entry, Verdict::kBeingWritten, Scope::kTable, until);
  }
  if (divides) Cut(entry, candidate, fits_seconds, std::numeric_limits<double>::infinity());
  return true;
}

bool Admission::CheckBudget(QueueEntry& entry, const Account* account, const Jobs& jobs, Scope scope) const {
  if (account == nullptr) return true;
  const auto& limits = account->settings.budget;
  if (limits.concurrent_jobs && jobs.count >= *limits.concurrent_jobs) {
    return Refuse(entry, Verdict::kConcurrentJobs, scope, jobs.first_end);
  }
  switch (account->budget.shortage()) {
    case BudgetShortage::kNone: return true;
    case BudgetShortage::kBytes: return Refuse(entry, Verdict::kBudgetBytes, scope, account->budget.OpensAt());
    case BudgetShortage::kSeconds: return Refuse(entry, Verdict::kBudgetSeconds, scope, account->budget.OpensAt());
  }
  return true;
}

void Admission::CutToBudget(QueueEntry& entry, const Candidate& candidate, const Account* account) const {
  if (account == nullptr || candidate.piece_seconds <= 0) return;
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const auto& limits = account->settings.budget;
  Cut(entry, candidate, limits.worker_seconds_per_hour.value_or(kNone),
      limits.bytes_per_hour ? static_cast<double>(*limits.bytes_per_hour) : kNone);
}

bool Admission::Admit(QueueEntry& entry) {
  const Candidate& candidate = input_.candidates[entry.candidate];
  const Table& table = tables_[table_of_[entry.candidate]];
  const Database& database = databases_[table.database];
  entry.piece.reset();
  if (!CheckPartitions(entry, candidate, table)) return false;
  if (!CheckBudget(entry, &ledger_.everything, jobs_, Scope::kEverything)) return false;
  if (!CheckBudget(entry, database.account, database.jobs, Scope::kDatabase)) return false;
  if (!CheckBudget(entry, table.account, table.jobs, Scope::kTable)) return false;
  if (!CheckWrites(entry, candidate, table)) return false;
  for (const Account* account :
       {static_cast<const Account*>(&ledger_.everything), static_cast<const Account*>(database.account),
        static_cast<const Account*>(table.account)}) {
    CutToBudget(entry, candidate, account);
  }
  entry.charged = Charged(entry, candidate);
  return true;
}

void Admission::Start(const QueueEntry& entry) {
  const Candidate& candidate = input_.candidates[entry.candidate];
  Table& table = tables_[table_of_[entry.candidate]];
  Database& database = databases_[table.database];
  const TimestampMs end = PredictedEnd(now_, entry.charged.seconds);
  Count(jobs_, end);
  Count(database.jobs, end);
  Count(table.jobs, end);
  table.busy.push_back({&candidate.partitions, end});
  ledger_.everything.budget.Charge(entry.charged);
  if (database.account) database.account->budget.Charge(entry.charged);
  if (table.account) table.account->budget.Charge(entry.charged);
}

}  // namespace firn::decide
