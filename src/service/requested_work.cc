// SPDX-License-Identifier: Apache-2.0
#include "service/requested_work.h"

#include <algorithm>
#include <unordered_set>

namespace firn::service {
namespace {

void Mark(const NewRequest& request, decide::Candidate& candidate) {
  candidate.cause = decide::Cause::kRequest;
  candidate.priority *= request.priority;
  if (request.deadline_ms > 0) candidate.deadline = TimestampMs{request.deadline_ms};
}

}  // namespace

bool IsFor(const std::string& requested_action, decide::Action action) {
  for (const decide::Action alone : {decide::Action::kRewriteDeletes, decide::Action::kAnalyze}) {
    if (requested_action == ActionName(alone) || action == alone) return requested_action == ActionName(action);
  }
  return true;
}

std::size_t Prefer(const NewRequest& request, std::vector<decide::Candidate>& candidates, Random& random) {
  const std::unordered_set<std::string_view> wanted(request.partitions.begin(), request.partitions.end());
  const auto is_wanted = [&](const decide::CandidatePartition& partition) { return wanted.contains(partition.text); };
  std::size_t found = 0;
  const std::size_t count = candidates.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!IsFor(request.action, candidates[i].action)) continue;
    // Without names it is the whole table.
    const auto named = static_cast<std::size_t>(std::ranges::count_if(candidates[i].partitions, is_wanted));
    const std::size_t all = candidates[i].partitions.size();
    const bool is_whole = wanted.empty() || all == 0 || named == all;
    if (!is_whole && named == 0) continue;
    ++found;
    if (is_whole) {
      Mark(request, candidates[i]);
      continue;
    }
    decide::Candidate part = candidates[i];
    const double share = static_cast<double>(named) / static_cast<double>(part.partitions.size());
    part.id = random.NewUuidV7(part.created_at);
    std::erase_if(part.partitions, [&](const auto& partition) { return !is_wanted(partition); });
    part.predicted = PartOf(candidates[i].predicted, share);
    Mark(request, part);
    std::erase_if(candidates[i].partitions, is_wanted);
    candidates[i].predicted = PartOf(candidates[i].predicted, 1 - share);
    candidates.push_back(std::move(part));
  }
  return found;
}

}  // namespace firn::service
