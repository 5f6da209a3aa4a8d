// SPDX-License-Identifier: Apache-2.0
#include "service/plan_candidates.h"

#include <algorithm>
#include <unordered_map>

#include "decide/plan_effect.h"
#include "orient/partition_key.h"

namespace firn::service {
namespace {

/// A partition is being written while its next commit is expected within so many intervals.
constexpr std::int64_t kHotIntervals = 3;

decide::Candidate NewCandidate(const CandidateBase& base, decide::Action action, Random& random) {
  decide::Candidate made;
  made.id = random.NewUuidV7(base.now);
  made.table = base.table;
  made.database = base.database;
  made.table_uuid = base.table_uuid;
  made.action = action;
  made.cause = base.cause;
  made.priority = base.priority;
  made.created_at = base.now;
  made.deadline = base.deadline;
  return made;
}

void AddGroup(const decide::MergeGroup& group, decide::Candidate& to) {
  to.predicted += decide::EffectOf(group);
  to.piece_seconds =
      to.piece_seconds == 0 ? group.predicted_seconds : std::min(to.piece_seconds, group.predicted_seconds);
  to.piece_bytes = to.piece_bytes == 0 ? group.input_bytes : std::min(to.piece_bytes, group.input_bytes);
}

struct Rhythm {
  std::optional<std::int64_t> interval_ms;
  TimestampMs last_write_at;
  bool is_hot = false;
};

Rhythm RhythmOf(const orient::TableState& state, const std::string& key, TimestampMs now) {
  Rhythm rhythm;
  const auto index = state.Find(key);
  if (!index) return rhythm;
  const orient::PartitionState& partition = state.partition(*index);
  rhythm.interval_ms = WriteIntervalMs(partition);
  rhythm.last_write_at = TimestampMs{std::int64_t{partition.last_change} * 1000};
  rhythm.is_hot = rhythm.interval_ms && now.value - rhythm.last_write_at.value < kHotIntervals * *rhythm.interval_ms;
  return rhythm;
}

void Finish(decide::Candidate& candidate) {
  std::ranges::sort(candidate.partitions, {}, &decide::CandidatePartition::key);
  // Too many to name: the whole table, planned anew when its turn comes.
  if (candidate.partitions.size() > decide::kCandidatePartitionsMax) candidate.partitions.clear();
}

}  // namespace

std::optional<std::int64_t> WriteIntervalMs(const orient::PartitionState& state) {
  if (state.commits < 2 || state.pending_since == 0 || state.last_change < state.pending_since) return std::nullopt;
  const std::int64_t span = std::int64_t{state.last_change} - std::int64_t{state.pending_since};
  return std::max<std::int64_t>(span * 1000 / (state.commits - 1), 1);
}

std::vector<decide::Candidate> CandidatesOf(const Assessment& assessment, const orient::TableState& state,
                                            const CandidateBase& base, Random& random) {
  const auto is_fold = [](const decide::MergeGroup& group) { return group.files.size() == 1; };
  std::vector<decide::Candidate> made;
  std::unordered_map<std::uint32_t, std::size_t> of_partition;  // index into `made`
  std::optional<std::size_t> quiet, written;
  for (const decide::MergeGroup& group : assessment.plan.groups) {
    const observe::PartitionFacts& partition = assessment.facts.partitions[group.partition];
    auto [place, is_new] = of_partition.try_emplace(group.partition, 0);
    if (is_new) {
      const std::string key = orient::PartitionKeyOf(partition.spec_id, partition.tuple);
      const Rhythm rhythm = RhythmOf(state, key, base.now);
      auto& shared = rhythm.is_hot ? written : quiet;
      if (!shared) {
        shared = made.size();
        made.push_back(NewCandidate(base, decide::Action::kMerge, random));
      }
      place->second = *shared;
      decide::Candidate& to = made[*shared];
      to.partitions.push_back({key, partition.text});
      to.last_write_at = std::max(to.last_write_at, rhythm.last_write_at);
      if (rhythm.is_hot) to.write_interval_ms = std::min(to.write_interval_ms.value_or(INT64_MAX), *rhythm.interval_ms);
    }
    AddGroup(group, made[place->second]);
  }
  if (std::ranges::all_of(assessment.plan.groups, is_fold)) {
    for (decide::Candidate& candidate : made) candidate.action = decide::Action::kFold;
  }
  std::ranges::for_each(made, Finish);
  return made;
}

decide::Candidate CandidateOf(const DeleteAssessment& assessment, const CandidateBase& base, Random& random) {
  decide::Candidate made = NewCandidate(base, decide::Action::kRewriteDeletes, random);
  made.predicted = decide::EffectOf(assessment.facts, assessment.plan);
  made.piece_seconds = made.predicted.seconds;
  made.piece_bytes = made.predicted.bytes;
  return made;
}

}  // namespace firn::service
