// SPDX-License-Identifier: Apache-2.0
#include "service/service_log.h"

#include <fmt/format.h>

#include "base/human_text.h"
#include "base/log.h"
#include "decide/candidate.h"
#include "decide/decide.h"

namespace firn::service {
namespace {

using decide::Decision;
using decide::DecisionKind;

/// Words of Decision::code that a table's owner, or other writers, are the reason for.
bool IsOrdinary(const Decision& decision) {
  return decision.code == decide::kCodeDisabled || decision.code == CodeName(Code::kConflict) ||
         decision.code == CodeName(Code::kCancelled);
}

LogLevel LevelOf(const Decision& decision) {
  switch (decision.kind) {
    case DecisionKind::kRun: return LogLevel::kInfo;
    case DecisionKind::kCancelled: return LogLevel::kInfo;
    case DecisionKind::kRefused:
    case DecisionKind::kFailed: return IsOrdinary(decision) ? LogLevel::kInfo : LogLevel::kWarn;
    case DecisionKind::kNothingToDo:
    case DecisionKind::kNotNow:
    case DecisionKind::kScan:
    case DecisionKind::kDone: break;
  }
  return LogLevel::kDebug;
}

/// "lake/db.t: job 0199...: merge day=2026-01-01: "
std::string Head(const Decision& decision) {
  std::string head = decision.table + ": ";
  if (!decision.job_id.empty()) head += "job " + decision.job_id + ": ";
  std::string what = decision.action;
  if (!decision.partition.empty()) what += (what.empty() ? "" : " ") + decision.partition;
  return what.empty() ? head : head + what + ": ";
}

}  // namespace

void LogDecisions(const std::vector<Decision>& decisions) {
  for (const Decision& decision : decisions) {
    const LogLevel level = LevelOf(decision);
    if (!IsLogged(level)) continue;
    const std::string kind =
        decision.kind == DecisionKind::kRun ? "" : fmt::format("{}: ", DecisionKindName(decision.kind));
    Log(level, Head(decision) + kind + decision.reason);
  }
}

void LogJobEnd(const Decision& decision, const WorkResult& result) {
  const bool is_whole = result.status || IsOrdinary(decision);
  const LogLevel level = is_whole ? LogLevel::kInfo : LogLevel::kWarn;
  if (!IsLogged(level)) return;
  std::string text = fmt::format("{}{}: {}", Head(decision), DecisionKindName(decision.kind), decision.reason);
  if (result.commits > 0 || result.measured.bytes > 0) {
    text += fmt::format(" It read {}", HumanBytes(result.measured.bytes));
    if (decision.prediction) text += fmt::format("; {} were predicted", HumanSeconds(decision.prediction->seconds));
    if (result.commits > 0) text += fmt::format("; {}", HumanCount(result.commits, "commit"));
    if (result.retries > 0) {
      text += fmt::format(" after {} because others were faster", HumanCount(result.retries, "more attempt"));
    }
    text += ".";
  }
  Log(level, text);
  if (!IsLogged(LogLevel::kDebug)) return;
  for (const std::string& note : result.notes) Log(LogLevel::kDebug, Head(decision) + "note: " + note);
}

void LogRequest(const RequestRow& request) {
  if (!IsLogged(LogLevel::kInfo)) return;
  std::string text = fmt::format("{}: request {}: {}", request.request.table, request.id, request.request.action);
  if (const auto& partitions = request.request.partitions; partitions.size() == 1) {
    text += " " + partitions.front();
  } else if (!partitions.empty()) {
    text += fmt::format(" of {}", HumanCount(static_cast<std::int64_t>(partitions.size()), "partition"));
  }
  text += ": " + request.state;
  if (!request.job.empty()) text += fmt::format(", job {}", request.job);
  if (!request.reason.empty()) text += ": " + request.reason;
  Log(LogLevel::kInfo, text);
}

void LogTable(const TableRow& before, const TableRow& now, bool is_replaced) {
  if (!IsLogged(LogLevel::kInfo)) return;
  using State = TableRow::State;
  const bool is_there = now.state != State::kDropped, was_there = before.state != State::kDropped;
  if (is_replaced) Log(LogLevel::kInfo, now.id + ": another table has the name now: it begins without history");
  if (was_there && !is_there) Log(LogLevel::kInfo, now.id + ": its catalog does not have it any more");
  if (!was_there && is_there) Log(LogLevel::kInfo, now.id + ": its catalog has it again");
  if (before.uuid.empty() && !now.uuid.empty() && is_there) {
    Log(LogLevel::kInfo, fmt::format("{}: a new table: {} in {}, {}", now.id, HumanCount(now.files, "file"),
                                     HumanCount(now.partitions, "partition"), HumanBytes(now.bytes)));
  }
  if (before.state == State::kUnreadable && now.state == State::kOk) {
    Log(LogLevel::kInfo, now.id + ": can be read again");
  }
}

void LogLook(const std::string& table, decide::Cause cause, const LookCounts& counts) {
  if (!IsLogged(LogLevel::kDebug)) return;
  Log(LogLevel::kDebug,
      fmt::format("{}: looked at ({}): {} of others, {} of firn, {} changed, {} scanned{}", table, CauseName(cause),
                  HumanCount(counts.commits, "commit"), HumanCount(counts.own_commits, "commit"),
                  HumanCount(counts.partitions_changed, "partition"), HumanCount(counts.partition_scans, "partition"),
                  counts.table_scans > 0 ? ", the whole table" : ""));
}

}  // namespace firn::service
