// SPDX-License-Identifier: Apache-2.0
//
// Removes what a run that has ended wrote and nobody names.
//
// In: the table as it is now, the mark of the run. Out: how many files went, and those that stay.
// Guarantees: only files with the run's name in theirs, in the table's own folders, that no snapshot and no metadata
//   log names. While a commit of the run may still be on its way nothing is removed: a request is sent after its
//   manifest list and its metadata file were written, so one of these that is not named is the sign of it. It cannot
//   be applied any more if `is_fenced`: see run_journal.h. These signs are looked for in whole listings, however many
//   files there are.
// Cost: a listing of the table's folders. If files are found: the manifest lists of all snapshots that are younger
//   than the run's base, and those of their manifests that are. Memory for `files_max` files that nobody names, and,
//   if more are found, a second listing and memory for the names of all that the run committed.
// Errors: those of reading; nothing was removed then.
// Threads: one call a run.
// Source: docs/decisions/0007; Iceberg's own removal of orphans has the same aim, with an age in place of a proof.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "act/run_mark.h"
#include "ports/catalog.h"

namespace firn::act {

inline constexpr std::size_t kLeftoversMax = 10'000;

struct SweptRun {
  std::int64_t removed = 0;
  std::vector<std::string> kept;  // as far as `files_max` goes
  /// Nothing is left, and all was looked at: the mark may go.
  bool is_done = false;
};

/// `temporary_names`: local files on their way of the process that wrote the mark are its own: it has ended.
Result<SweptRun> SweepRun(ports::FileIO& io, const ports::LoadedTable& table, const RunMark& mark, bool is_fenced,
                          bool temporary_names, std::size_t files_max = kLeftoversMax);

}  // namespace firn::act
