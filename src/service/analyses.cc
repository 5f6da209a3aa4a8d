// SPDX-License-Identifier: Apache-2.0
#include "service/analyses.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/human_text.h"

namespace firn::service {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::string_view kTarget = "target-file-size-bytes";
/// Copying, merging to several sizes, reading each three times: of one worker.
constexpr double kSecondsPerSampleByte = 20.0 / (64 << 20);
constexpr double kSecondsAtLeast = 1;

}  // namespace

void Analyses::Put(const AnalysisRow& row) {
  const std::lock_guard lock(mutex_);
  known_.insert_or_assign(row.table, Known{row.uuid, row.made_ms, 0, row.proposed_target_bytes});
}

void Analyses::NoteFailure(const std::string& table, std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  known_[table].failed_ms = now_ms;
}

void Analyses::Remove(const std::string& table) {
  const std::lock_guard lock(mutex_);
  known_.erase(table);
}

std::int64_t Analyses::MadeMs(std::string_view table) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(table);
  return found == known_.end() ? 0 : found->second.made_ms;
}

std::optional<PolicyValue> Analyses::ProposedTarget(std::string_view table, std::string_view uuid) const {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(table);
  if (found == known_.end() || found->second.proposed_target_bytes <= 0 || found->second.uuid != uuid) {
    return std::nullopt;
  }
  return PolicyValue{std::to_string(found->second.proposed_target_bytes), std::string(kAnalyzePlace)};
}

bool Analyses::IsDue(std::string_view table, std::string_view uuid, std::int32_t every_days,
                     std::int64_t now_ms) const {
  if (every_days <= 0) return false;
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(table);
  if (found == known_.end()) return true;
  const Known& known = found->second;
  if (known.failed_ms != 0 && now_ms - known.failed_ms < kDayMs) return false;
  if (known.uuid != uuid) return true;
  return now_ms - known.made_ms >= every_days * kDayMs;
}

std::string AppliedTarget(const TableSettings& settings) {
  const auto found = settings.origins.find(kTarget);
  if (found == settings.origins.end() || found->second.place != kAnalyzePlace) return "";
  return found->second.text;
}

void NoteApplied(const TableSettings* before, const TableSettings& now, const std::string& table, TimestampMs at,
                 std::vector<decide::Decision>& decisions) {
  const std::string older = before == nullptr ? "" : AppliedTarget(*before), newer = AppliedTarget(now);
  if (older == newer) return;
  const std::string size = HumanBytes(now.policy.target_size_bytes);
  decide::Decision decision;
  decision.at = at;
  decision.table = table;
  decision.kind = decide::DecisionKind::kScan;
  decision.action = ActionName(decide::Action::kAnalyze);
  decision.code = newer.empty() ? "analysis-withdrawn" : "analysis-applied";
  decision.reason = newer.empty() ? fmt::format("The target file size is {} again, as without the analysis.", size)
                                  : fmt::format(
                                        "The target file size is {} by the newest analysis, as firn.analyze.apply is "
                                        "true; false takes it back.",
                                        size);
  decision.inputs = {{"target bytes", static_cast<double>(now.policy.target_size_bytes)}};
  if (before != nullptr) {
    decision.inputs.emplace_back("target bytes before", static_cast<double>(before->policy.target_size_bytes));
  }
  decisions.push_back(std::move(decision));
}

decide::Candidate AnalysisCandidate(const TableRow& table, std::string database, decide::Cause cause, TimestampMs now,
                                    std::string id) {
  decide::Candidate made;
  made.id = std::move(id);
  made.table = table.id;
  made.database = std::move(database);
  made.table_uuid = table.uuid;
  made.action = decide::Action::kAnalyze;
  made.cause = cause;
  made.priority = table.priority;
  made.created_at = now;
  made.predicted.bytes = std::clamp<std::int64_t>(table.bytes, 0, kServiceSampleBytes);
  made.predicted.seconds = std::max(kSecondsAtLeast, kSecondsPerSampleByte * static_cast<double>(made.predicted.bytes));
  return made;
}

}  // namespace firn::service
