// SPDX-License-Identifier: Apache-2.0
//
// Work on a table that may be worth doing, before it is decided when, and whether, it is done.
//
// In: a scan's diagnosis and plan, or a request. Out: what decide/backlog.h puts in order.
// Guarantees: plain; bounded by kCandidatePartitionsMax. A table, an action and a set of partitions name one
//   candidate: a second one replaces the first (SameWork, Coalesce).
// Threads: value type. Source: docs/deciding.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "decide/effect.h"

namespace firn::decide {

inline constexpr std::size_t kCandidatePartitionsMax = 1'000;  // more of them: the candidate is for the whole table

/// kAnalyze changes nothing: it finds out whether other settings would pay.
enum class Action { kMerge, kFold, kRewriteDeletes, kAnalyze };
enum class Cause { kCommit, kSweep, kRequest };

/// "merge", "fold", "rewrite-deletes", "analyze".
std::string_view ActionName(Action action);
/// Of every action, in their order.
std::vector<std::string_view> ActionNames();
Result<Action> ParseAction(std::string_view text);
/// "commit", "sweep", "request".
std::string_view CauseName(Cause cause);

struct CandidatePartition {
  std::string key;   // bytes of spec id and tuple
  std::string text;  // "day=2026-01-01/bucket=3"

  friend bool operator==(const CandidatePartition&, const CandidatePartition&) = default;
};

struct Candidate {
  std::string id;          // unique in a backlog
  std::string table;       // "catalog/ns.name"
  std::string database;    // "catalog/ns"
  std::string table_uuid;  // a table that was replaced by another of its name is not the same
  Action action = Action::kMerge;
  Cause cause = Cause::kCommit;
  std::vector<CandidatePartition> partitions;  // by key, none twice; empty: the whole table

  Effect predicted;  // corrected by what earlier work of the table has cost (cost_correction.h)
  /// The least that can be done alone (the smallest group of the plan); 0: the whole only.
  double piece_seconds = 0;
  std::int64_t piece_bytes = 0;

  double priority = 1;  // of the table or the request; that of the database is in its Limits
  TimestampMs created_at;
  std::optional<TimestampMs> deadline;  // that it should be finished by

  /// How the partitions are written, from their state: mean time between commits; nullopt: not known.
  std::optional<std::int64_t> write_interval_ms;
  TimestampMs last_write_at;
  /// Kept by NoteDeferral (backlog.h).
  std::int32_t deferrals = 0;
  TimestampMs deferred_until;

  friend bool operator==(const Candidate&, const Candidate&) = default;
};

/// True if both are the same action on the same partitions of the same table.
bool SameWork(const Candidate& a, const Candidate& b);

/// `newer` takes the place of `older` in the backlog and keeps its age: the earlier creation and deadline, the
/// higher priority, the deferrals, and a request stays a request. `older` is the same work.
Candidate Coalesce(const Candidate& older, Candidate newer);

/// True if they share a partition; no partitions mean all of them.
bool Overlaps(const std::vector<CandidatePartition>& a, const std::vector<CandidatePartition>& b);

/// kInvalidArgument naming the member that is out of range: numbers that are no numbers, negative costs, too many
/// partitions, partitions out of order.
Status CheckCandidate(const Candidate& candidate);

}  // namespace firn::decide
