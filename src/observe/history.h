// SPDX-License-Identifier: Apache-2.0
//
// Reads what a branch was, and all that happened to it since, as far back as its snapshots can be read.
//
// In: a loaded table, its files. Out: the files of the oldest snapshot, and the change of each later one.
// Guarantees: the newest snapshot's ancestors without a gap. Where one cannot be read, or does not fit to the one
//   before, the history starts at it, or after it, and says why: at the first one whose files can all be read, if those
//   of all later ones can. Times lie between 1970 and 9999, go back by
//   a year at most and on by ten, and the whole is no longer than 20 years.
// Cost: that of Observe for one snapshot, and of ReadChanges for the others, from the newest on: of what is older
//   than a broken one little is read. Where the files of the oldest cannot be read, Observe for a few more: the
//   logarithm of the number of snapshots.
// Threads: those of Observe.
// Errors: kInvalidArgument when there is no history: no snapshot, or one; kCorrupt (or what reading says) when none of
//   several can be read but one, and for other times, naming the snapshot; kLimit when there are more changes than the
//   options allow; those of Observe.
// Source: Iceberg table spec, "Snapshots", "Snapshot Retention Policy".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "observe/change.h"
#include "observe/facts.h"
#include "ports/catalog.h"
#include "ports/file_io.h"

namespace firn::observe {

struct HistoryOptions {
  std::string ref = "main";
  int threads = 1;
  /// Only what happened so long before the newest snapshot.
  std::optional<std::int64_t> length_ms{};
  std::int64_t snapshots_max = 1'000'000;
  std::int64_t entries_max = 200'000'000;
};

struct History {
  Facts start;
  TimestampMs started_at;
  std::string start_reason;  // why not earlier, as a sentence
  ChangeSet changes;
};

Result<History> ReadHistory(const ports::LoadedTable& table, ports::FileIO& io, const HistoryOptions& options);

}  // namespace firn::observe
