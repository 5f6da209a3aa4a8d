// SPDX-License-Identifier: Apache-2.0
#include "decide/candidate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace firn::decide {
namespace {

constexpr std::array<std::pair<Action, std::string_view>, 4> kActions = {{{Action::kMerge, "merge"},
                                                                          {Action::kFold, "fold"},
                                                                          {Action::kRewriteDeletes, "rewrite-deletes"},
                                                                          {Action::kAnalyze, "analyze"}}};
constexpr std::array<std::pair<Cause, std::string_view>, 3> kCauses = {
    {{Cause::kCommit, "commit"}, {Cause::kSweep, "sweep"}, {Cause::kRequest, "request"}}};

template <class Names>
auto Parse(const Names& names, std::string_view what, std::string_view text) -> Result<decltype(names.front().first)> {
  for (const auto& [value, name] : names) {
    if (name == text) return value;
  }
  return Error{Code::kInvalidArgument, fmt::format("\"{}\" is no {}", text, what)};
}

template <class Names, class T>
std::string_view NameOf(const Names& names, T value) {
  return names[static_cast<std::size_t>(value)].second;
}

bool ByKey(const CandidatePartition& a, const CandidatePartition& b) { return a.key < b.key; }

}  // namespace

std::string_view ActionName(Action action) { return NameOf(kActions, action); }
std::vector<std::string_view> ActionNames() {
  std::vector<std::string_view> names;
  for (const auto& [action, name] : kActions) names.push_back(name);
  return names;
}
Result<Action> ParseAction(std::string_view text) { return Parse(kActions, "action", text); }
std::string_view CauseName(Cause cause) { return NameOf(kCauses, cause); }

bool SameWork(const Candidate& a, const Candidate& b) {
  return a.table == b.table && a.table_uuid == b.table_uuid && a.action == b.action &&
         std::ranges::equal(a.partitions, b.partitions, {}, &CandidatePartition::key, &CandidatePartition::key);
}

Candidate Coalesce(const Candidate& older, Candidate newer) {
  newer.created_at = std::min(older.created_at, newer.created_at);
  newer.priority = std::max(older.priority, newer.priority);
  if (older.deadline) newer.deadline = newer.deadline ? std::min(*older.deadline, *newer.deadline) : older.deadline;
  if (older.cause == Cause::kRequest) newer.cause = Cause::kRequest;
  newer.deferrals = std::max(older.deferrals, newer.deferrals);
  newer.deferred_until = std::max(older.deferred_until, newer.deferred_until);
  return newer;
}

bool Overlaps(const std::vector<CandidatePartition>& a, const std::vector<CandidatePartition>& b) {
  if (a.empty() || b.empty()) return true;
  auto left = a.begin();
  auto right = b.begin();
  while (left != a.end() && right != b.end()) {
    if (left->key == right->key) return true;
    (left->key < right->key ? left : right)++;
  }
  return false;
}

Status CheckCandidate(const Candidate& c) {
  auto bad = [&](std::string_view member, std::string_view wanted) {
    return Error{Code::kInvalidArgument, fmt::format("candidate `{}`: {} is not {}", c.id, member, wanted)};
  };
  if (c.id.empty()) return bad("id", "set");
  if (c.table.empty()) return bad("table", "set");
  if (c.database.empty()) return bad("database", "set");
  const Effect& effect = c.predicted;
  if (std::min({effect.files_removed, effect.files_replaced, effect.delete_files_removed, effect.delete_reads_saved,
                effect.bytes}) < 0) {
    return bad("predicted", "without negative counts");
  }
  auto sane = [](double value) { return std::isfinite(value) && value >= 0; };
  if (!sane(effect.seconds) || !sane(effect.reads_saved)) return bad("predicted", "made of finite numbers");
  if (!sane(c.piece_seconds) || c.piece_bytes < 0) return bad("piece", "at least 0");
  if (!std::isfinite(c.priority) || c.priority <= 0) return bad("priority", "above 0");
  if (c.write_interval_ms && *c.write_interval_ms < 0) return bad("write_interval_ms", "at least 0");
  if (c.deferrals < 0) return bad("deferrals", "at least 0");
  if (c.partitions.size() > kCandidatePartitionsMax) return bad("number of partitions", "within its limit");
  if (std::ranges::adjacent_find(c.partitions, [](const auto& a, const auto& b) { return !ByKey(a, b); }) !=
      c.partitions.end()) {
    return bad("list of partitions", "in the order of their keys, each once");
  }
  return Ok();
}

}  // namespace firn::decide
