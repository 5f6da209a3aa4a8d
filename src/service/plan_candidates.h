// SPDX-License-Identifier: Apache-2.0
//
// Turns plans into candidates for the queue: one for the partitions that are quiet, one for those that are written.
//
// In: a plan with its facts; states of partitions. Out: candidates with predicted effects.
// Guarantees: every group of the plan is in exactly one candidate. There are two at most: each job is a commit, and
//   each commit makes the table's other writers try again.
// Cost: O(groups). Threads: pure; ids come from `random`.
// Errors: none.
// Source: docs/deciding.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "decide/candidate.h"
#include "orient/table_state.h"
#include "service/assess.h"
#include "service/rewrite_deletes.h"

namespace firn::service {

/// What all candidates of a table have alike.
struct CandidateBase {
  std::string table, database, table_uuid;
  decide::Cause cause = decide::Cause::kCommit;
  double priority = 1;
  TimestampMs now;
  std::optional<TimestampMs> deadline = {};
};

std::vector<decide::Candidate> CandidatesOf(const Assessment& assessment, const orient::TableState& state,
                                            const CandidateBase& base, Random& random);
/// Why deletes are left that could be converted (decide::Pays).
inline constexpr std::string_view kFewDeletes =
    "Reading the keys would cost more than the opens of delete files that it saves.";
/// For the whole table.
decide::Candidate CandidateOf(const DeleteAssessment& assessment, const CandidateBase& base, Random& random);

/// Mean time between the commits that nobody has looked at; nullopt: there were fewer than two.
std::optional<std::int64_t> WriteIntervalMs(const orient::PartitionState& state);

}  // namespace firn::service
