// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/human_number.h"
#include "base/human_text.h"
#include "decide/backlog.h"

namespace firn::decide {
namespace {

constexpr std::array<std::string_view, 12> kVerdictNames = {
    "starts",      "queued",         "paused",        "no-benefit",   "backing-off",    "probing",
    "quiet-hours", "partition-busy", "being-written", "budget-bytes", "budget-seconds", "concurrent-jobs"};

double SecondsUntil(TimestampMs time, TimestampMs now) {
  return std::max(0.0, static_cast<double>(time.value) - static_cast<double>(now.value)) / 1000;
}

std::string Whose(Scope scope) {
  switch (scope) {
    case Scope::kEverything: return "of the service";
    case Scope::kDatabase: return "of the database";
    case Scope::kTable: return "of the table";
  }
  return "";
}

/// "removes 120 files and 3 delete files, saves 40 opens of delete files a read in 2.1 s"
std::string Worth(const Effect& effect) {
  std::string text = fmt::format("removes {}", HumanCount(effect.files_removed, "file"));
  if (effect.delete_files_removed > 0) {
    text += fmt::format(" and {}", HumanCount(effect.delete_files_removed, "delete file"));
  }
  if (effect.delete_reads_saved > 0) {
    text += fmt::format(", saves {} of delete files a read", HumanCount(effect.delete_reads_saved, "open"));
  }
  if (effect.reads_saved > 0) text += fmt::format(", saves {:.0f} file opens a day", effect.reads_saved);
  return text + fmt::format(" in {}", HumanSeconds(effect.seconds));
}

std::string Goes(const QueueEntry& entry, const Candidate& candidate, TimestampMs now) {
  switch (entry.lane) {
    case Lane::kDeadline:
      return fmt::format("its deadline is in {} and would be missed",
                         HumanSeconds(SecondsUntil(candidate.deadline.value_or(now), now)));
    case Lane::kRequest: return "it was asked for";
    case Lane::kAutomatic: break;
  }
  return fmt::format("its score is {}, and it was found {} ago", HumanNumber(entry.score),
                     HumanSeconds(SecondsUntil(now, candidate.created_at)));
}

std::string WhyNot(const QueueEntry& entry, const Candidate& candidate, const Breakers& breakers) {
  switch (entry.verdict) {
    case Verdict::kStarts:
    case Verdict::kQueued: break;
    case Verdict::kPaused: return fmt::format("the {} is paused", ScopeName(entry.scope));
    case Verdict::kNoBenefit: return "no file would go away";
    case Verdict::kBackingOff: {
      const auto found = breakers.find(candidate.table);
      if (found == breakers.end()) return "the table backs off";
      if (found->second.bad_in_a_row == 0) return found->second.reason;
      return fmt::format("the table backs off after {} in a row: {}",
                         HumanCount(found->second.bad_in_a_row, "bad outcome"), found->second.reason);
    }
    case Verdict::kProbing: return "one job is running to see whether the table's work succeeds again";
    case Verdict::kQuietHours: return fmt::format("quiet hours {}", Whose(entry.scope));
    case Verdict::kPartitionBusy: return "another job is working on these partitions";
    case Verdict::kBeingWritten:
      return fmt::format("its partitions are written every {}, and the work takes {}",
                         HumanSeconds(static_cast<double>(candidate.write_interval_ms.value_or(0)) / 1000),
                         HumanSeconds(candidate.predicted.seconds));
    case Verdict::kBudgetBytes: return fmt::format("the bytes per hour {} are used up", Whose(entry.scope));
    case Verdict::kBudgetSeconds: return fmt::format("the worker-seconds per hour {} are used up", Whose(entry.scope));
    case Verdict::kConcurrentJobs: return fmt::format("as many jobs as allowed {} are running", Whose(entry.scope));
  }
  return "";
}

DecisionKind KindOf(Verdict verdict) {
  if (verdict == Verdict::kStarts) return DecisionKind::kRun;
  return verdict == Verdict::kNoBenefit ? DecisionKind::kNothingToDo : DecisionKind::kNotNow;
}

/// One partition by its text; several, or the whole table, by none.
std::string PartitionText(const Candidate& candidate) {
  return candidate.partitions.size() == 1 ? candidate.partitions.front().text : "";
}

}  // namespace

std::string_view VerdictName(Verdict verdict) { return kVerdictNames[static_cast<std::size_t>(verdict)]; }

std::string Sentence(const QueueEntry& entry, const Candidate& candidate, const Breakers& breakers, TimestampMs now) {
  if (entry.verdict == Verdict::kStarts) {
    const std::string piece = entry.piece
                                  ? fmt::format("; a part that takes {} of {}", HumanSeconds(entry.charged.seconds),
                                                HumanSeconds(candidate.predicted.seconds))
                                  : "";
    return fmt::format("Starts: {} ({}{}).", Goes(entry, candidate, now), Worth(candidate.predicted), piece);
  }
  const std::string when = HumanSeconds(SecondsUntil(entry.not_before, now));
  if (entry.verdict == Verdict::kQueued) {
    return fmt::format("Waits for a worker, about {}: {} ({}).", when, Goes(entry, candidate, now),
                       Worth(candidate.predicted));
  }
  return fmt::format("Not now: {}; looked at again in {}.", WhyNot(entry, candidate, breakers), when);
}

Decision MakeDecision(const QueueEntry& entry, const Candidate& candidate, const Breakers& breakers, TimestampMs now) {
  Decision decision;
  decision.at = now;
  decision.table = candidate.table;
  decision.partition = PartitionText(candidate);
  decision.kind = KindOf(entry.verdict);
  decision.action = ActionName(candidate.action);
  decision.code = VerdictName(entry.verdict);
  decision.reason = Sentence(entry, candidate, breakers, now);
  decision.inputs = {{"score", entry.score},
                     {"rank", entry.rank},
                     {"priority", candidate.priority},
                     {"benefit", Benefit(candidate.predicted)},
                     {"waited_seconds", SecondsUntil(now, candidate.created_at)},
                     {"partitions", static_cast<double>(candidate.partitions.size())},
                     {"deferrals", candidate.deferrals}};
  if (candidate.write_interval_ms) {
    decision.inputs.emplace_back("write_interval_seconds", static_cast<double>(*candidate.write_interval_ms) / 1000);
  }
  if (candidate.deadline) {
    const double left_ms = static_cast<double>(candidate.deadline->value) - static_cast<double>(now.value);
    decision.inputs.emplace_back("deadline_in_seconds", left_ms / 1000);
  }
  if (decision.kind == DecisionKind::kNotNow) decision.not_before = entry.not_before;
  decision.prediction = entry.verdict == Verdict::kStarts ? entry.charged : candidate.predicted;
  return Bounded(std::move(decision));
}

}  // namespace firn::decide
