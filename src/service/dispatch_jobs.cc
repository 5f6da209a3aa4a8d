// SPDX-License-Identifier: Apache-2.0
// Jobs: what is done, and what is learned from it.
#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.h"
#include "base/log.h"
#include "service/dispatch.h"
#include "service/earlier_work.h"
#include "service/service_log.h"

namespace firn::service {
namespace {

constexpr std::int64_t kRetryMs = 60'000;

bool IsCancelled(const Status& status) { return !status && status.error().code == Code::kCancelled; }

/// Others were faster, or somebody asked to stop: that says nothing about the table.
bool IsNobodysFault(const Status& status) {
  return IsCancelled(status) || (!status && status.error().code == Code::kConflict);
}

std::string Told(const WorkResult& result) {
  const decide::Effect& measured = result.measured;
  if (!result.status && result.commits == 0) return result.status.error().message;
  if (result.analysis) return result.notes.front();
  if (result.commits == 0) {
    return result.notes.empty() ? "Nothing was left to do." : "Nothing was left to do: " + result.notes.front();
  }
  std::string text = fmt::format("{} replaced, {} less than before", HumanCount(measured.files_replaced, "file"),
                                 HumanCount(measured.files_removed, "file"));
  if (measured.delete_files_removed > 0) {
    text = fmt::format("{} rewritten", HumanCount(measured.delete_files_removed, "delete file"));
  }
  if (measured.delete_reads_saved > 0) {
    text += fmt::format(", {} of delete files less to read the table", HumanCount(measured.delete_reads_saved, "open"));
  }
  text += fmt::format(", in {}.", HumanSeconds(measured.seconds));
  if (!result.status) text += fmt::format(" Not done: {}", result.status.error().message);
  return text;
}

}  // namespace

/// False: it is refused, and recorded. Its numbers come from manifests, reports of scans and the state, which may hold
/// anything.
bool Dispatch::Takes(const decide::Candidate& candidate) {
  const Status sound = decide::CheckCandidate(candidate);
  if (sound) return true;
  decide::Decision decision;
  decision.at = clock_.Now();
  decision.table = candidate.table;
  decision.kind = decide::DecisionKind::kRefused;
  decision.action = ActionName(candidate.action);
  decision.code = CodeName(sound.error().code);
  decision.reason = fmt::format("It cannot be put in order: {}.", sound.error().message);
  decision.shadow = options_.shadow;
  StateUpdate update;
  update.is_kept = true;
  update.decisions.push_back(std::move(decision));
  if (const Status written = store_.Write(update); !written) Log(LogLevel::kError, written.error().message);
  LogDecisions(update.decisions);
  news_.Publish(News::Kind::kDecision, candidate.table, std::to_string(update.decisions.front().id));
  return false;
}

void Dispatch::OfferAnalysis(decide::Candidate candidate) {
  if (!Takes(candidate)) return;
  const auto is_same = [&](const auto& other) {
    return other.table == candidate.table && other.action == decide::Action::kAnalyze;
  };
  const std::lock_guard lock(mutex_);
  if (std::ranges::any_of(running_, is_same)) return;
  if (const auto same = std::ranges::find_if(candidates_, is_same); same != candidates_.end()) {
    candidate.id = same->id;
    candidate = decide::Coalesce(*same, std::move(candidate));
    if (candidate == *same) return;
    *same = std::move(candidate);
  } else {
    waiting_.insert_or_assign(candidate.id, Waiting{candidate.predicted.seconds, ""});
    candidates_.push_back(std::move(candidate));
  }
  NoteChange();
}

void Dispatch::Do(Job& job, Random& random) {
  const auto table = tables_.Find(job.candidate.table);
  WorkResult result;
  tell_({.job = job.row});
  if (table == nullptr) {
    result.status = Error{Code::kNotFound, "the table is gone"};
  } else {
    WorkOptions work;
    work.settings_of = options_.settings_of;
    work.memory_bytes = options_.memory_bytes / options_.workers;
    work.service_id = options_.service_id;
    work.cancelled = &stopping_;
    // Whatever the piece was cut by, it may read what it is charged with, and at least its smallest group.
    if (job.piece) work.max_bytes = std::max(job.running.charged.bytes, job.candidate.piece_bytes);
    work.progress = [&job](double part) { job.progress = part; };
    work.planned = [this, &job](const std::string& plan_id) {
      // On disk before anything is written, so that a look at the table after a kill can tell whose work it was.
      job.row.plan_id = plan_id;
      StateUpdate update;
      update.job = &job.row;
      if (Status written = store_.Write(update); !written) Log(LogLevel::kError, written.error().message);
    };
    work.scratch = options_.scratch;
    work.processes = options_.processes;
    work.earlier = [this, &job] { return EarlierWorkOf(store_, job.candidate.table, clock_.Now()); };
    result = DoWork(job.candidate, *table->catalog, table->name, work, clock_, random);
  }
  End(job, result);
}

void Dispatch::LeaveAlone(const std::string& table, std::int64_t wait_ms, std::string reason) {
  const std::lock_guard lock(mutex_);
  decide::CircuitBreaker& breaker = breakers_[table];
  if (breaker.State(clock_.Now()) == decide::BreakerState::kOpen &&
      breaker.RetryAt().value >= clock_.Now().value + wait_ms) {
    return;
  }
  breaker.opened_at = clock_.Now();
  breaker.wait_ms = wait_ms;
  breaker.reason = std::move(reason);
  NoteChange();
}

void Dispatch::Learn(const Job& job, const WorkResult& result, TimestampMs now) {
  const std::lock_guard lock(mutex_);
  ledger_.Settle(job.running, result.measured, now);
  std::erase_if(running_, [&](const auto& each) { return each.id == job.running.id; });
  const bool is_done = result.commits > 0;
  auto outcome = decide::OutcomeKind::kNobodyHurt;
  std::string why;
  // What nothing is found out by says nothing about merging.
  const bool is_analysis = job.candidate.action == decide::Action::kAnalyze;
  if (!is_analysis && !result.status && !IsNobodysFault(result.status) && result.commits == 0) {
    outcome = decide::OutcomeKind::kFailed;
    why = result.status.error().message;
  } else if (is_done) {
    outcome = job.piece ? decide::OutcomeKind::kPaid : decide::Judge(job.running.charged, result.measured);
    why = Told(result);
    if (!job.piece) {
      corrections_[job.candidate.table].Learn(job.candidate.action, job.uncorrected_seconds, result.measured.seconds);
    }
  }
  breakers_[job.candidate.table].Record(outcome, why, now);
  if (breakers_[job.candidate.table] == decide::CircuitBreaker()) breakers_.erase(job.candidate.table);
  if (is_done) ++figures_.merges;
  figures_.files_replaced += result.measured.files_replaced;
  if (!is_analysis) figures_.bytes_rewritten += result.measured.bytes;
}

void Dispatch::AddSavings(const Job& job, const WorkResult& result) {
  const auto table = tables_.Find(job.candidate.table);
  if (table == nullptr || result.commits == 0) return;
  const std::lock_guard lock(table->news_mutex);
  Savings& savings = table->savings;
  ++savings.jobs;
  savings.files += result.measured.files_removed;
  if (job.candidate.action == decide::Action::kRewriteDeletes) {
    savings.files += std::max<std::int64_t>(0, result.measured.delete_files_removed - result.delete_files_added);
  }
  savings.delete_reads_saved += result.measured.delete_reads_saved;
  savings.bytes_rewritten += result.measured.bytes;
  savings.predicted_seconds += job.running.charged.seconds;
  savings.measured_seconds += result.measured.seconds;
  savings.reads_saved += static_cast<std::int64_t>(job.running.charged.reads_saved);
}

void Dispatch::End(Job& job, const WorkResult& result) {
  const TimestampMs now = clock_.Now();
  Learn(job, result, now);
  AddSavings(job, result);
  const bool is_failed = !result.status && result.commits == 0;
  decide::Decision decision;
  decision.at = now;
  decision.table = job.candidate.table;
  if (job.candidate.partitions.size() == 1) decision.partition = job.candidate.partitions.front().text;
  decision.kind = IsCancelled(result.status) ? decide::DecisionKind::kCancelled
                  : is_failed                ? decide::DecisionKind::kFailed
                                             : decide::DecisionKind::kDone;
  decision.action = ActionName(job.candidate.action);
  decision.code = result.status ? "done" : std::string(CodeName(result.status.error().code));
  decision.reason = Told(result);
  decision.prediction = job.running.charged;
  decision.outcome = result.measured;
  decision.plan_id = result.plan_id;
  decision.job_id = job.row.id;

  JobNews news{job.row, true, false, 0};
  const bool is_analysis = job.candidate.action == decide::Action::kAnalyze;
  news.is_unfinished = (!result.status || job.piece) && !stopping_ && !is_analysis;
  JobRow& row = news.job;
  row.state = decision.kind == decide::DecisionKind::kCancelled ? JobRow::State::kCancelled
              : is_failed                                       ? JobRow::State::kFailed
                                                                : JobRow::State::kDone;
  row.ended_ms = now.value;
  row.plan_id = result.plan_id;
  row.measured = result.measured;
  row.measured->reads_saved = job.running.charged.reads_saved;
  row.progress = 1;
  if (!result.status) row.error = result.status.error().message;
  StateUpdate update;
  update.is_kept = true;
  update.decisions.push_back(std::move(decision));
  update.job = &row;
  std::optional<AnalysisRow> analysis = result.analysis;
  if (analysis) analysis->job = row.id;
  if (analysis) update.analysis = &*analysis;
  if (Status written = store_.Write(update); !written) {
    Log(LogLevel::kError, written.error().message);
    SetStateWritable(false);
  }
  LogJobEnd(update.decisions.front(), result);
  if (analysis) options_.analyses->Put(*analysis);
  if (is_analysis && is_failed && row.state == JobRow::State::kFailed) {
    options_.analyses->NoteFailure(row.table, now.value);
  }
  news_.Publish(News::Kind::kJob, row.table, row.id);
  {
    const std::lock_guard lock(mutex_);
    jobs_.erase(row.id);
    NoteChange();
  }
  if (is_failed && !is_analysis) news.wait_ms = kRetryMs;
  tell_(news);
}

}  // namespace firn::service
