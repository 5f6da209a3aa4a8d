// SPDX-License-Identifier: Apache-2.0
// What the service is asked to do, and what becomes of it; what it remembers of an earlier run.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/log.h"
#include "service/earlier_work.h"
#include "service/requested_work.h"
#include "service/service.h"
#include "service/service_log.h"

namespace firn::service {
namespace {

constexpr const char* kPaused = "paused";
constexpr const char* kCounters = "counters";
constexpr const char* kSpent = "spent";
constexpr std::string_view kAnalyze = "analyze";

bool NamesAny(const RequestRow& request, const std::vector<std::string>& partitions) {
  const auto& wanted = request.request.partitions;
  if (wanted.empty() || partitions.empty()) return true;
  return std::ranges::any_of(partitions, [&](const auto& text) { return std::ranges::count(wanted, text) > 0; });
}

bool IsEnded(const RequestRow& request) {
  return request.state == "done" || request.state == "failed" || request.state == "refused";
}

/// The first partition of the request that the table does not have; empty: it has them all.
std::string UnknownPartition(const WatchedTable& table, const NewRequest& request) {
  std::unordered_set<std::string> unknown(request.partitions.begin(), request.partitions.end());
  for (std::uint32_t i = 0; i < table.state.size() && !unknown.empty(); ++i) {
    unknown.erase(table.text_of ? table.text_of(table.state.key(i)) : "");
  }
  return unknown.empty() ? "" : *unknown.begin();
}

/// The counts that go on over restarts, in their order.
std::vector<std::int64_t*> CountsOf(FleetSummary& summary) {
  return {&summary.commits_seen,
          &summary.partitions_changed,
          &summary.partitions_noisy,
          &summary.partition_scans,
          &summary.snapshots_found_by_sweep_only,
          &summary.merges,
          &summary.files_replaced,
          &summary.bytes_rewritten};
}

}  // namespace

Status Service::Restore() {
  FIRN_ASSIGN(auto records, store_->Tables());
  for (TableRecord& record : records) {
    const std::string learned = record.learned;
    const auto table = tables_.Restore(std::move(record));
    if (table == nullptr) continue;
    dispatch_->Restore(table->id, learned);
    const std::lock_guard lock(table->mutex);
    table->reads = ReadsOf(learned);
    table->watched.saved_reads_ms = table->reads.last_ms;
    if (table->watched.record.has_work) agenda_.Add({table->id, clock_.Now().value, decide::Cause::kSweep, true});
    Publish(*table);
  }
  FIRN_TRY(RestoreAnalyses());
  FIRN_ASSIGN(const std::string paused, store_->Get(kPaused));
  dispatch_->SetPaused(paused == "1");
  FIRN_ASSIGN(auto everything, ResolveEverything(options_.policy));
  dispatch_->SetSettings(decide::Scope::kEverything, "", std::move(everything));
  FIRN_ASSIGN(const std::string spent, store_->Get(kSpent));
  if (!spent.empty()) dispatch_->RestoreSpent(spent);
  FIRN_ASSIGN(const std::string counters, store_->Get(kCounters));
  std::size_t at = 0;
  for (std::int64_t* count : CountsOf(counters_)) {
    *count = std::strtoll(counters.c_str() + std::min(at, counters.size()), nullptr, 10);
    at = counters.find(' ', at) == std::string::npos ? counters.size() : counters.find(' ', at) + 1;
  }
  // What ran when the process was killed: its effect, if it had one, is in the table and is found by looking.
  FIRN_ASSIGN(auto running,
              store_->Jobs({.table = "", .state = JobRow::State::kRunning}, {.after = "", .limit = kPageItemsMax}));
  for (JobRow& job : running.items) {
    job.state = JobRow::State::kLost;
    job.error = "The service ended while it ran; what it had committed is in the table.";
    job.ended_ms = clock_.Now().value;
    StateUpdate update;
    update.job = &job;
    FIRN_TRY(store_->Write(update));
    Log(LogLevel::kWarn, fmt::format("{}: job {}: lost: {}", job.table, job.id, job.error));
    agenda_.Add({job.table, clock_.Now().value, decide::Cause::kSweep, true});
  }
  FIRN_ASSIGN(auto open, store_->OpenRequests());
  for (RequestRow& request : open) {
    request.state = "waiting";
    ++requests_open_;
    agenda_.Add({request.request.table, clock_.Now().value, decide::Cause::kRequest, true});
    requests_[request.request.table].push_back(std::move(request));
  }
  return Ok();
}

Status Service::RestoreAnalyses() {
  FIRN_ASSIGN(const auto analyses, store_->Analyses());
  for (const AnalysisRow& row : analyses) dispatch_->options().analyses->Put(row);
  return Ok();
}

Status Service::SaveCounters() {
  const Dispatch::Figures figures = dispatch_->figures();
  FleetSummary counts;
  {
    const std::lock_guard lock(counters_mutex_);
    counts = counters_;
  }
  counts.merges += figures.merges;
  counts.files_replaced += figures.files_replaced;
  counts.bytes_rewritten += figures.bytes_rewritten;
  std::string text;
  for (const std::int64_t* count : CountsOf(counts)) text += std::to_string(*count) + " ";
  FIRN_TRY(store_->Set(kSpent, dispatch_->Spent()));
  FIRN_TRY(store_->Set(kCounters, text));
  StateUpdate kept;
  return store_->Write(kept);
}

/// Of a write that somebody waits for. A full disk is nothing that the sender did wrong or has to wait a turn for.
Status Service::Acknowledged(Status written) {
  NoteState(written);
  if (written) return Ok();
  return Error{Code::kUnavailable,
               fmt::format("the service cannot write its state, so nothing was taken in: {}", written.error().message)};
}

Result<std::string> Service::AddRequest(const NewRequest& request) {
  if (request.action != kRequestScan) FIRN_TRY(decide::ParseAction(request.action));
  if (!(request.priority >= orient::kPriorityMin && request.priority <= orient::kPriorityMax)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("`priority` is not between {} and {}", orient::kPriorityMin, orient::kPriorityMax)};
  }
  if (request.action == kAnalyze && !request.partitions.empty()) {
    return Error{Code::kInvalidArgument, "an analysis is of the whole table: `partitions` does not go with it"};
  }
  FIRN_ASSIGN(const auto table, tables_.FindNamed(request.table));
  const TimestampMs now = clock_.Now();
  RequestRow row;
  row.request = request;
  row.request.table = table->id;
  row.created_ms = now.value;
  row.state = "waiting";
  {
    const std::lock_guard lock(requests_mutex_);
    if (requests_open_ >= options_.requests_max) {
      return Error{Code::kLimit, fmt::format("{} requests wait already", requests_open_)};
    }
    row.id = request_ids_.NewUuidV7(now);
    StateUpdate update;
    update.requests.push_back(row);
    FIRN_TRY(Acknowledged(store_->Write(update)));
    ++requests_open_;
    requests_[table->id].push_back(row);
  }
  LogRequest(row);
  agenda_.Add({table->id, now.value, decide::Cause::kRequest, true});
  return row.id;
}

/// Marks the candidates that were asked for, and answers what needs no work, or no more.
void Service::FollowRequests(const FleetTable& table, TimestampMs started, LookResult& result, StateUpdate& update) {
  const std::lock_guard lock(requests_mutex_);
  const auto place = requests_.find(table.id);
  if (place == requests_.end()) return;
  for (RequestRow& request : place->second) {
    // A look that began before the request, or that saw only a part, says nothing about it. One that was made in the
    // future was made before the clock went back.
    const bool is_newer = request.created_ms > started.value && request.created_ms <= clock_.Now().value;
    if (is_newer || (!result.error && !result.is_full)) continue;
    if (!Answer(table, request, result)) continue;
    LogRequest(request);
    update.requests.push_back(request);
  }
  requests_open_ -= static_cast<std::int64_t>(std::erase_if(place->second, IsEnded));
  if (place->second.empty()) requests_.erase(place);
}

/// The caller holds the mutex of the requests, for the ids.
decide::Candidate Service::AnalysisOf(const FleetTable& table, decide::Cause cause, const NewRequest& request) {
  const TableRow& row = table.watched.record.row;
  const TimestampMs now = clock_.Now();
  decide::Candidate candidate = AnalysisCandidate(row, table.database, cause, now, request_ids_.NewUuidV7(now));
  candidate.priority *= request.priority;
  if (request.deadline_ms > 0) candidate.deadline = TimestampMs{request.deadline_ms};
  return candidate;
}

/// By the clock, where the table's owner wants that.
void Service::OfferDueAnalysis(const FleetTable& table) {
  const TableSettings& wanted = table.watched.wanted;
  const TableRow& row = table.watched.record.row;
  const std::int32_t days = wanted.service.analyze_every_days;
  if (days == 0 || !wanted.policy.enabled || row.files < 2) return;
  if (!dispatch_->options().analyses->IsDue(table.id, row.uuid, days, clock_.Now().value)) return;
  const std::lock_guard lock(requests_mutex_);
  dispatch_->OfferAnalysis(AnalysisOf(table, decide::Cause::kSweep, {}));
}

/// True if the request has changed.
bool Service::Answer(const FleetTable& table, RequestRow& request, LookResult& result) {
  const RequestRow before = request;
  if (result.error) {
    request.reason = result.error->message;
    if (result.error->code != Code::kUnavailable) request.state = result.is_gone ? "failed" : "refused";
  } else if (std::string unknown = UnknownPartition(table.watched, request.request); !unknown.empty()) {
    request.state = "refused";
    request.reason = "There is no partition " + unknown + ".";
  } else if (request.request.action == kRequestScan) {
    request.state = "done";
  } else if (!table.watched.wanted.policy.enabled) {
    request.state = "refused";
    request.reason = fmt::format("It is forbidden: {}.", WhyDisabled(table.watched.wanted));
  } else if (request.request.action == kAnalyze) {
    result.analyses.push_back(AnalysisOf(table, decide::Cause::kRequest, request.request));
    if (request.state == "waiting") request.state = "queued";
  } else {
    const std::size_t found = Prefer(request.request, *result.candidates, request_ids_);
    request.state = found == 0 ? "done" : options_.shadow ? "refused" : "queued";
    request.reason = found == 0 && request.job.empty() ? "There is nothing to do." : "";
    if (request.state == "refused")
      request.reason = "The service only decides (shadow): there is work, and it is not done.";
  }
  return request.state != before.state || request.reason != before.reason;
}

/// Whether more is to be done for a request, the next look at its table tells.
void Service::FollowJob(const JobNews& news) {
  StateUpdate update;
  update.is_kept = true;
  bool is_asked = false;
  {
    const std::lock_guard lock(requests_mutex_);
    const auto place = requests_.find(news.job.table);
    if (place == requests_.end()) return;
    const auto action = decide::ParseAction(news.job.action);
    for (RequestRow& request : place->second) {
      if (request.state == "waiting" || !action || !IsFor(request.request.action, *action)) continue;
      if (!NamesAny(request, news.job.partitions)) continue;
      request.job = news.job.id;
      request.state = "running";
      if (news.has_ended && news.job.state == JobRow::State::kFailed) {
        request.state = "failed";
        request.reason = news.job.error;
      } else if (news.has_ended && request.request.action == kAnalyze) {
        request.state = "done";
        request.reason = "The table's page and `/analysis` show what was found.";
      }
      LogRequest(request);
      is_asked |= news.has_ended;
      update.requests.push_back(request);
    }
    requests_open_ -= static_cast<std::int64_t>(std::erase_if(place->second, IsEnded));
    if (place->second.empty()) requests_.erase(place);
  }
  if (update.requests.empty()) return;
  NoteState(store_->Write(update));
  if (is_asked) agenda_.Add({news.job.table, clock_.Now().value, decide::Cause::kRequest, true});
}

void Service::HearOf(const JobNews& news) {
  if (news.has_ended && news.job.state == JobRow::State::kCancelled) return;  // it is asked for again after the restart
  FollowJob(news);
  if (!news.has_ended) {
    shown_.Feed().Publish(News::Kind::kJob, news.job.table, news.job.id);
    return;
  }
  agenda_.Add({news.job.table, clock_.Now().value + news.wait_ms, decide::Cause::kSweep, news.is_unfinished});
}

/// Two services that do the same work only find out when they commit. Of the two the one whose id sorts first goes on.
void Service::HearOfOther(const std::string& table, const std::string& service_id) {
  constexpr std::size_t kSaidMax = 1'000;
  const bool goes_on = GoesOn(dispatch_->options().service_id, service_id);
  bool is_news = false;
  {
    const std::lock_guard lock(counters_mutex_);
    others_[table] = {service_id, clock_.MonotonicNs() / 1'000'000};
    is_news = others_said_.size() < kSaidMax && others_said_.insert(service_id).second;
  }
  if (is_news) {
    Log(LogLevel::kError,
        fmt::format("another firn service ({}) works on the same tables, first seen at {}: only one is meant to; {}",
                    service_id, table, goes_on ? "this one goes on" : "this one leaves them alone"));
  }
  if (!goes_on) dispatch_->LeaveAlone(table, kLeaveAloneMs, ReasonOfOther(table));
}

/// Empty: it is this one's alone.
std::string Service::ReasonOfOther(const std::string& table) {
  const std::lock_guard lock(counters_mutex_);
  const auto found = others_.find(table);
  if (found == others_.end()) return "";
  if (clock_.MonotonicNs() / 1'000'000 - found->second.heard_ms >= kLeaveAloneMs) {
    others_.erase(found);
    return "";
  }
  const bool goes_on = GoesOn(dispatch_->options().service_id, found->second.service_id);
  return fmt::format("another firn service ({}) works on it too; {}", found->second.service_id,
                     goes_on ? "this one goes on" : "this one leaves it alone");
}

Result<std::shared_ptr<FleetTable>> Service::FindTable(std::string_view id) const {
  auto table = tables_.Find(id);
  if (table == nullptr) return Error{Code::kNotFound, fmt::format("no table `{}`", id)};
  return table;
}

Error Service::StillLooking(std::string_view id) {
  return {Code::kUnavailable, fmt::format("{} is being looked at: try again", id)};
}

Status Service::SetPaused(std::string_view id, bool paused) {
  const std::string_view word = paused ? "paused" : "resumed";
  if (id.empty()) {
    FIRN_TRY(Acknowledged(store_->Set(kPaused, paused ? "1" : "0")));
    Log(LogLevel::kInfo, fmt::format("the service is {}", word));
    dispatch_->SetPaused(paused);
    shown_.Feed().Publish(News::Kind::kSummary);
    return Ok();
  }
  FIRN_ASSIGN(const auto table, tables_.FindNamed(id));
  const std::unique_lock lock(table->mutex, kLookPatience);
  if (!lock.owns_lock()) return StillLooking(id);
  TableRecord& record = table->watched.record;
  const bool before = record.paused;
  record.paused = paused;
  StateUpdate update;
  update.table = &record;
  update.has_partitions = false;
  const Status written = Acknowledged(store_->Write(update));
  if (!written) {
    record.paused = before;
    return written;
  }
  Log(LogLevel::kInfo, fmt::format("{}: {}", table->id, word));
  SetScopes(*table);
  Publish(*table);
  return Ok();
}

Status Service::Pause(std::string_view table) { return SetPaused(table, true); }
Status Service::Resume(std::string_view table) { return SetPaused(table, false); }

}  // namespace firn::service
