// SPDX-License-Identifier: Apache-2.0
//
// Puts the work that is worth doing in order, says which of it starts now, and of everything else why not.
//
// In: candidates, running jobs, the ledger, circuit breakers, the number of free workers, the time. Out: one entry a
//   candidate, in order; those that start come first, and are charged to the ledger.
// Order: work whose deadline would be missed (earliest first), then requests, then automatic work; the later lanes get
//   at least kLaneShare of what goes before them. Within a lane databases take turns by weight and predicted seconds;
//   within a database the rank decides: log2(priority * benefit / seconds) plus hours waited (docs/deciding.md).
// Guarantees: the same input gives the same order, whatever the order of the candidates. No candidate waits for ever
//   while budgets refill: only work that was found less than 2 * kRankMax hours after it can overtake it in its
//   database, and database and lane get their shares. A start never overlaps a running job nor another start. No
//   `not_before` is more than kLookAgainMs ahead, whatever the clock does.
// Cost: O(n log n); about 200 bytes a candidate while it runs. Threads: pure but for the ledger and the breakers.
// Source: docs/deciding.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "decide/candidate.h"
#include "decide/circuit_breaker.h"
#include "decide/decision.h"
#include "decide/ledger.h"

namespace firn::decide {

inline constexpr double kRankMax = 12;             // bound of the logarithm of value per cost, either way
inline constexpr double kLaneShare = 0.25;         // of what starts before them
inline constexpr double kQuietIntervalPart = 0.5;  // work fits a quiet interval if it takes at most this part of it

enum class Verdict {
  kStarts,
  kQueued,      // other work goes first
  kPaused,      // by a person
  kNoBenefit,   // nothing is gained
  kBackingOff,  // the table's circuit breaker is open
  kProbing,     // one job is running to see whether the breaker may close
  kQuietHours,
  kPartitionBusy,  // a running job works on it
  kBeingWritten,   // commits come faster than the work would take
  kBudgetBytes,
  kBudgetSeconds,
  kConcurrentJobs,
};
/// "starts", "queued", "paused", "no-benefit", "backing-off", ...: stable.
std::string_view VerdictName(Verdict verdict);

/// The part of a candidate that is to be done now, when not all of it is.
struct Piece {
  double seconds_max = 0;
  std::int64_t bytes_max = 0;

  friend bool operator==(const Piece&, const Piece&) = default;
};

struct QueueEntry {
  std::uint32_t candidate = 0;  // index
  Verdict verdict = Verdict::kQueued;
  Scope scope = Scope::kTable;  // whose limit it is
  Lane lane = Lane::kAutomatic;
  double score = 0;  // priority * benefit / seconds
  double rank = 0;
  TimestampMs not_before = {};      // when it may start as things are now; `now` for one that starts
  std::optional<Piece> piece = {};  // of one that starts
  Effect charged = {};              // of one that starts
  bool defers = false;              // kBeingWritten, and not yet counted: NoteDeferral
};

struct BacklogInput {
  std::span<const Candidate> candidates;  // CheckCandidate is Ok for each; no two are the SameWork
  std::span<const RunningJob> running;
  std::int32_t workers = 1;     // of the service, busy ones too
  std::int32_t starts_max = 0;  // free workers; 0: only the order is wanted, and nothing is charged
  TimestampMs now;
};

/// By table.
using Breakers = std::unordered_map<std::string, CircuitBreaker>;

/// Entries of all candidates: those that start, then those that could, in the order in which they would, then those
/// that may not, the soonest first. Clocks in `ledger` and `breakers` are advanced; starts are charged to `ledger`.
std::vector<QueueEntry> Arrange(const BacklogInput& input, Ledger& ledger, Breakers& breakers);

/// File opens a day that readers are spared, see docs/deciding.md.
double Benefit(const Effect& predicted);
/// Of a candidate under the weight of its database.
double Score(const Candidate& candidate, double database_weight);

/// Counts a deferral that Arrange has decided (`entry.defers`), so that it ends after max_deferrals of them.
void NoteDeferral(const QueueEntry& entry, Candidate& candidate);

/// The job of an entry that starts.
RunningJob MakeJob(const QueueEntry& entry, const Candidate& candidate, std::string job_id, TimestampMs now);

/// A sentence for people: why it is where it is in the queue, or why it may not start.
std::string Sentence(const QueueEntry& entry, const Candidate& candidate, const Breakers& breakers, TimestampMs now);
/// The record of it, kRun or kNotNow (kNothingToDo for kNoBenefit), without id and job.
Decision MakeDecision(const QueueEntry& entry, const Candidate& candidate, const Breakers& breakers, TimestampMs now);

}  // namespace firn::decide
