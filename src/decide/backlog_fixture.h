// SPDX-License-Identifier: Apache-2.0
//
// Candidates and a small world of workers for the tests of the backlog.
//
// Guarantees: everything follows from the seed. Threads: one.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "decide/backlog.h"

namespace firn::decide {

inline constexpr std::int64_t kSecondMs = 1'000, kMinuteMs = 60'000, kHourMs = 3'600'000;
inline constexpr TimestampMs kStart{1'700'000'000'000};

inline TimestampMs After(std::int64_t ms, TimestampMs time = kStart) { return {time.value + ms}; }

/// Automatic work on the whole of a table that removes `files` files in `seconds`.
inline Candidate Work(std::string id, std::string database, double seconds, std::int64_t files = 10) {
  Candidate candidate;
  candidate.table = fmt::format("{}.{}", database, id);
  candidate.database = std::move(database);
  candidate.id = std::move(id);
  candidate.predicted = {.files_removed = files,
                         .files_replaced = files + 1,
                         .bytes = static_cast<std::int64_t>(seconds * 150e6),
                         .seconds = seconds};
  candidate.created_at = kStart;
  return candidate;
}

inline const QueueEntry& EntryOf(const std::vector<QueueEntry>& entries, std::uint32_t candidate) {
  return *std::ranges::find(entries, candidate, &QueueEntry::candidate);
}

/// Ids in the order of the entries: "a b c".
inline std::string Ids(const std::vector<QueueEntry>& entries, const std::vector<Candidate>& candidates) {
  std::string ids;
  for (const QueueEntry& entry : entries) ids += (ids.empty() ? "" : " ") + candidates[entry.candidate].id;
  return ids;
}

/// Workers that take as long as `Measured` says; time passes by Step.
class BacklogWorld {
 public:
  explicit BacklogWorld(std::int32_t workers) : workers_(workers) {}

  /// Starts what may start now; the ids of it.
  std::vector<std::string> StartAll() {
    const auto busy = static_cast<std::int32_t>(running.size());
    const BacklogInput input{.candidates = candidates,
                             .running = running,
                             .workers = workers_,
                             .starts_max = std::max(0, workers_ - busy),
                             .now = now};
    entries = Arrange(input, ledger, breakers);
    std::vector<std::string> started;
    for (const QueueEntry& entry : entries) {
      Candidate& candidate = candidates[entry.candidate];
      NoteDeferral(entry, candidate);
      if (entry.verdict != Verdict::kStarts) continue;
      running.push_back(MakeJob(entry, candidate, candidate.id, now));
      waited_ms[candidate.id] = now.value - candidate.created_at.value;
      started.push_back(candidate.id);
    }
    std::erase_if(candidates, [&](const Candidate& c) { return std::ranges::find(started, c.id) != started.end(); });
    return started;
  }

  /// Ends the jobs that have run for `factor` times what they were charged.
  void EndJobs(double factor) {
    std::erase_if(running, [&](const RunningJob& job) {
      const double seconds = job.charged.seconds * factor;
      if (static_cast<double>(now.value - job.started_at.value) < seconds * 1000) return false;
      Effect measured = job.charged;
      measured.seconds = seconds;
      ledger.Settle(job, measured, now);
      return true;
    });
  }

  TimestampMs now = kStart;
  std::vector<Candidate> candidates;
  std::vector<RunningJob> running;
  Ledger ledger;
  Breakers breakers;
  std::vector<QueueEntry> entries;  // of the last StartAll
  std::map<std::string, std::int64_t> waited_ms;

 private:
  std::int32_t workers_;
};

}  // namespace firn::decide
