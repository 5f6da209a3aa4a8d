// SPDX-License-Identifier: Apache-2.0
// The queue: what waits, what starts, and why.
#include "service/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_set>

#include "base/log.h"
#include "base/threads.h"
#include "decide/ledger_json.h"
#include "service/requested_work.h"
#include "service/service_log.h"

namespace firn::service {
namespace {

constexpr std::int64_t kPatienceMs = 10'000;
/// Decisions about waiting that one choice may record.
constexpr std::size_t kNotedAtOnce = 50;

/// `candidate` without the partitions of `keys`; its prediction shrinks in proportion. The part that is left.
double TakeOut(const std::unordered_set<std::string_view>& keys, decide::Candidate& candidate) {
  const auto before = static_cast<double>(candidate.partitions.size());
  std::erase_if(candidate.partitions, [&](const auto& partition) { return keys.contains(partition.key); });
  if (candidate.partitions.empty()) return 0;
  const double part = static_cast<double>(candidate.partitions.size()) / before;
  candidate.predicted = PartOf(candidate.predicted, part);
  return part;
}

std::vector<std::string> TextsOf(const std::vector<decide::CandidatePartition>& partitions) {
  std::vector<std::string> texts;
  for (const auto& partition : partitions) texts.push_back(partition.text);
  return texts;
}

}  // namespace

Dispatch::Dispatch(StateStore& store, FleetTables& tables, FleetNews& news, ports::Clock& clock,
                   DispatchOptions options, std::function<void(const JobNews&)> tell)
    : store_(store),
      tables_(tables),
      news_(news),
      clock_(clock),
      options_(std::move(options)),
      tell_(std::move(tell)) {}

Dispatch::~Dispatch() { Stop(); }

/// The caller holds the mutex. Who has looked before looks again, even if it does not wait yet.
void Dispatch::NoteChange() {
  ++changes_;
  changed_.notify_all();
}

Status Dispatch::Start() {
  Random random(options_.seed ^ 0x4449535041544348ULL);
  for (int i = 0; i < options_.workers; ++i) {
    FIRN_ASSIGN(threads_.emplace_back(), StartThread([this, own = random.Fork()]() mutable { RunWorker(own); }));
  }
  return Ok();
}

void Dispatch::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    NoteChange();
  }
  threads_.clear();  // joins them
}

void Dispatch::Offer(const std::string& table, std::vector<decide::Candidate> candidates,
                     std::span<const std::string> scanned) {
  const std::unordered_set<std::string_view> keys(scanned.begin(), scanned.end());
  std::erase_if(candidates, [this](const decide::Candidate& candidate) { return !Takes(candidate); });
  const std::lock_guard lock(mutex_);
  std::vector<decide::Candidate> older;
  for (std::size_t i = candidates_.size(); i-- > 0;) {
    if (candidates_[i].table != table || candidates_[i].action == decide::Action::kAnalyze) continue;
    older.push_back(std::move(candidates_[i]));
    candidates_.erase(candidates_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  const auto correction = corrections_.find(table);
  for (decide::Candidate& candidate : candidates) {
    Waiting waiting{candidate.predicted.seconds, ""};
    if (correction != corrections_.end()) {
      candidate.predicted = correction->second.Apply(candidate.action, candidate.predicted);
    }
    const auto same = std::ranges::find_if(older, [&](const auto& each) { return decide::SameWork(each, candidate); });
    if (same != older.end()) {
      if (const auto noted = waiting_.find(same->id); noted != waiting_.end()) waiting.noted = noted->second.noted;
      waiting_.erase(same->id);
      candidate = decide::Coalesce(*same, std::move(candidate));
      older.erase(same);
    }
    waiting_.insert_or_assign(candidate.id, std::move(waiting));
    candidates_.push_back(std::move(candidate));
  }
  for (decide::Candidate& left : older) {
    // What the scan did not look at is still to be done. Deletes are always looked at as a whole.
    double part = 0;
    if (!scanned.empty() && left.action != decide::Action::kRewriteDeletes) {
      part = left.partitions.empty() ? 1 : TakeOut(keys, left);
    }
    if (part > 0) {
      waiting_[left.id].uncorrected_seconds *= part;
      candidates_.push_back(std::move(left));
    } else {
      waiting_.erase(left.id);
    }
  }
  NoteChange();
}

void Dispatch::Forget(const std::string& table) {
  Offer(table, {}, {});
  const std::lock_guard lock(mutex_);
  std::erase_if(candidates_, [&](const decide::Candidate& left) {
    if (left.table == table) waiting_.erase(left.id);
    return left.table == table;
  });
  breakers_.erase(table);
  corrections_.erase(table);
}

void Dispatch::SetSettings(decide::Scope scope, const std::string& name, decide::ScopeSettings settings) {
  const std::lock_guard lock(mutex_);
  if (scope == decide::Scope::kEverything) settings.paused = figures_.is_paused;
  const decide::Account* known = ledger_.Find(scope, name);
  // Every look says them again; only a change is a reason to choose anew. What limits nothing has no account.
  if (settings == (known == nullptr ? decide::ScopeSettings() : known->settings)) return;
  const bool is_new = known == nullptr;
  ledger_.Set(scope, name, settings, clock_.Now());
  if (is_new && !spent_.empty()) RestoreAccount(scope, name, settings);
  NoteChange();
}

void Dispatch::SetPaused(bool is_paused) {
  const std::lock_guard lock(mutex_);
  figures_.is_paused = is_paused;
  ledger_.everything.settings.paused = is_paused;
  NoteChange();
}

void Dispatch::SetStateWritable(bool is_writable) {
  const std::lock_guard lock(mutex_);
  is_writable_ = is_writable;
  NoteChange();
}

decide::BacklogInput Dispatch::Input(TimestampMs now, int starts_max) const {
  return {candidates_, running_, options_.workers, starts_max, now};
}

void Dispatch::RunWorker(Random random) {
  while (!stopping_) {
    std::uint64_t seen = 0;
    if (const auto job = Choose(random, seen)) {
      Do(*job, random);
      continue;
    }
    std::unique_lock lock(mutex_);
    const std::int64_t patience_ms = std::clamp<std::int64_t>(wait_ms_, 1, kPatienceMs);
    changed_.wait_for(lock, std::chrono::milliseconds(patience_ms), [&] { return stopping_ || changes_ != seen; });
  }
}

/// Puts everything in order, records what has changed, and takes the first one that may start.
std::shared_ptr<Dispatch::Job> Dispatch::Choose(Random& random, std::uint64_t& seen) {
  StateUpdate update;
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    seen = changes_;
    wait_ms_ = kPatienceMs;
    if (candidates_.empty() || !is_writable_ || stopping_) return nullptr;
    const TimestampMs now = clock_.Now();
    const auto entries = decide::Arrange(Input(now, 1), ledger_, breakers_);
    NoteWaiting(entries, update.decisions);
    for (const decide::QueueEntry& entry : entries) {
      if (entry.verdict != decide::Verdict::kStarts) wait_ms_ = std::min(wait_ms_, entry.not_before.value - now.value);
    }
    if (!entries.empty() && entries.front().verdict == decide::Verdict::kStarts) {
      job = Begin(entries.front(), random, update.decisions);
    }
  }
  if (job) update.job = &job->row;
  const Status written = store_.Write(update);
  for (const decide::Decision& decision : update.decisions) {
    news_.Publish(News::Kind::kDecision, decision.table, std::to_string(decision.id));
  }
  if (!update.decisions.empty()) news_.Publish(News::Kind::kQueue);
  if (written) LogDecisions(update.decisions);
  if (job == nullptr || written) return job;
  // It must not run without a record: it waits for a state that can be written.
  Log(LogLevel::kError, written.error().message);
  const std::lock_guard lock(mutex_);
  is_writable_ = false;
  ledger_.Settle(job->running, {}, clock_.Now());
  std::erase_if(running_, [&](const auto& each) { return each.id == job->running.id; });
  jobs_.erase(job->row.id);
  waiting_[job->candidate.id].uncorrected_seconds = job->uncorrected_seconds;
  candidates_.push_back(job->candidate);
  return nullptr;
}

void Dispatch::NoteWaiting(const std::vector<decide::QueueEntry>& entries, std::vector<decide::Decision>& decisions) {
  const TimestampMs now = clock_.Now();
  for (const decide::QueueEntry& entry : entries) {
    decide::Candidate& candidate = candidates_[entry.candidate];
    if (entry.defers) decide::NoteDeferral(entry, candidate);
    if (entry.verdict == decide::Verdict::kStarts || decisions.size() >= kNotedAtOnce) continue;
    std::string& noted = waiting_[candidate.id].noted;
    const std::string why = fmt::format("{} {}", VerdictName(entry.verdict), ScopeName(entry.scope));
    if (noted == why) continue;
    noted = why;
    decisions.push_back(decide::MakeDecision(entry, candidate, breakers_, now));
    decisions.back().shadow = options_.shadow;
  }
}

std::shared_ptr<Dispatch::Job> Dispatch::Begin(const decide::QueueEntry& entry, Random& random,
                                               std::vector<decide::Decision>& decisions) {
  const TimestampMs now = clock_.Now();
  auto job = std::make_shared<Job>();
  job->candidate = candidates_[entry.candidate];
  job->running = decide::MakeJob(entry, job->candidate, random.NewUuidV7(now), now);
  job->piece = entry.piece;
  job->uncorrected_seconds = waiting_[job->candidate.id].uncorrected_seconds;
  decisions.push_back(decide::MakeDecision(entry, job->candidate, breakers_, now));
  decide::Decision& decision = decisions.back();
  waiting_.erase(job->candidate.id);
  candidates_.erase(candidates_.begin() + entry.candidate);
  // An analysis changes nothing.
  if (options_.shadow && job->candidate.action != decide::Action::kAnalyze) {
    decision.shadow = true;
    if (decision.reason.starts_with("Starts:")) decision.reason.replace(0, 6, "Would start (the service is a shadow)");
    shadowed_.insert(job->candidate.table);
    ledger_.Settle(job->running, {}, now);
    wait_ms_ = 0;
    return nullptr;
  }
  JobRow& row = job->row;
  row.id = job->running.id;
  row.table = job->candidate.table;
  row.action = ActionName(job->candidate.action);
  row.partitions = TextsOf(job->candidate.partitions);
  row.state = JobRow::State::kRunning;
  row.created_ms = job->candidate.created_at.value;
  row.started_ms = now.value;
  row.predicted = entry.charged;
  decision.job_id = row.id;
  running_.push_back(job->running);
  jobs_.emplace(row.id, job);
  return job;
}

bool Dispatch::is_state_writable() const {
  const std::lock_guard lock(mutex_);
  return is_writable_;
}

bool Dispatch::HasWork(const std::string& table) const {
  const std::lock_guard lock(mutex_);
  // An analysis is offered again by the clock, or by whoever asked for it.
  const auto is_work = [&](const auto& each) { return each.table == table && each.action != decide::Action::kAnalyze; };
  return shadowed_.contains(table) || std::ranges::any_of(candidates_, is_work) ||
         std::ranges::any_of(running_, is_work);
}

Dispatch::Figures Dispatch::figures() const {
  const std::lock_guard lock(mutex_);
  Figures figures = figures_;
  figures.waiting = static_cast<std::int64_t>(candidates_.size());
  figures.running = static_cast<std::int64_t>(running_.size());
  return figures;
}

std::vector<QueueRow> Dispatch::Queue() {
  const TimestampMs now = clock_.Now();
  const std::lock_guard lock(mutex_);
  decide::Ledger ledger = ledger_;  // looking charges nothing, and moves no clock
  decide::Breakers breakers = breakers_;
  std::vector<QueueRow> rows;
  for (const decide::QueueEntry& entry : decide::Arrange(Input(now, 0), ledger, breakers)) {
    const decide::Candidate& candidate = candidates_[entry.candidate];
    QueueRow row;
    row.position = static_cast<std::int64_t>(rows.size()) + 1;
    row.table = candidate.table;
    row.action = ActionName(candidate.action);
    row.partitions = TextsOf(candidate.partitions);
    row.benefit = decide::Benefit(candidate.predicted);
    row.predicted_seconds = candidate.predicted.seconds;
    row.predicted_bytes = candidate.predicted.bytes;
    row.priority = candidate.priority;
    row.created_ms = candidate.created_at.value;
    row.deadline_ms = candidate.deadline ? candidate.deadline->value : 0;
    row.cause = CauseName(candidate.cause);
    row.score = entry.score;
    row.why_here = decide::Sentence(entry, candidate, breakers, now);
    row.not_before_ms = entry.not_before.value;
    rows.push_back(std::move(row));
  }
  return rows;
}

void Dispatch::AddProgress(JobRow& job) const {
  const std::lock_guard lock(mutex_);
  if (const auto running = jobs_.find(job.id); running != jobs_.end()) job.progress = running->second->progress;
}

std::string Dispatch::Learned(const std::string& table) const {
  const std::lock_guard lock(mutex_);
  json::Value value = json::Value::Object();
  if (const auto breaker = breakers_.find(table); breaker != breakers_.end()) {
    value.Set("breaker", decide::ToJson(breaker->second));
  }
  if (const auto correction = corrections_.find(table); correction != corrections_.end()) {
    value.Set("correction", decide::ToJson(correction->second));
  }
  return json::Write(value);
}

void Dispatch::Restore(const std::string& table, std::string_view learned) {
  // Lost knowledge costs a few wrong predictions.
  const auto value = json::Parse(learned);
  if (!value) return;
  const std::lock_guard lock(mutex_);
  if (const json::Value* member = value->Find("breaker"); member != nullptr) {
    if (auto breaker = decide::ParseCircuitBreaker(*member)) breakers_[table] = std::move(*breaker);
  }
  if (const json::Value* member = value->Find("correction"); member != nullptr) {
    if (auto correction = decide::ParseCostCorrection(*member)) corrections_[table] = *correction;
  }
}

std::string Dispatch::Spent() const {
  const std::lock_guard lock(mutex_);
  return json::Write(decide::ToJson(ledger_));
}

void Dispatch::RestoreSpent(std::string_view spent) {
  const auto value = json::Parse(spent);
  const std::lock_guard lock(mutex_);
  if (!value || !decide::RestoreLedger(*value, ledger_)) return Log(LogLevel::kInfo, "budgets begin anew");
  spent_ = spent;
}

/// Accounts of tables and databases are made when their tables are looked at.
void Dispatch::RestoreAccount(decide::Scope scope, const std::string& name, const decide::ScopeSettings& settings) {
  if (ledger_.Find(scope, name) == nullptr || scope == decide::Scope::kEverything) return;
  decide::Ledger one;
  one.Set(scope, name, settings, clock_.Now());
  const auto value = json::Parse(spent_);
  if (!value || !decide::RestoreLedger(*value, one)) return;
  auto& accounts = scope == decide::Scope::kTable ? ledger_.tables : ledger_.databases;
  auto& restored = scope == decide::Scope::kTable ? one.tables : one.databases;
  if (const auto account = restored.find(name); account != restored.end()) accounts[name] = account->second;
}

void Dispatch::Describe(const std::string& table, TableDetail& detail) const {
  const std::lock_guard lock(mutex_);
  const auto place = breakers_.find(table);
  if (place == breakers_.end()) return;
  decide::CircuitBreaker breaker = place->second;
  detail.breaker.state = BreakerStateName(breaker.State(clock_.Now()));
  detail.breaker.failures = breaker.bad_in_a_row;
  detail.breaker.until_ms = breaker.wait_ms == 0 ? 0 : breaker.RetryAt().value;
  detail.breaker.reason = breaker.reason;
  if (breaker.is_failing() && detail.row.state == TableRow::State::kOk) {
    detail.row.state = TableRow::State::kFailing;
    detail.row.state_reason = breaker.reason;
  }
}

double Dispatch::CorrectionOf(const std::string& table, std::string_view action) const {
  const std::lock_guard lock(mutex_);
  const auto place = corrections_.find(table);
  const auto parsed = decide::ParseAction(action);
  return place == corrections_.end() || !parsed ? 1 : place->second.factor(*parsed);
}

}  // namespace firn::service
