// SPDX-License-Identifier: Apache-2.0
//
// Removes what a run that has ended wrote and nobody names.
//
// In: the table as it is now, the mark of the run. Out: how many files went, and those that stay.
// Guarantees: only files whose whole name is one that the run gives (run_files.h), in the table's own folders, and that
//   nothing in the table's metadata names, no snapshot, no log, no statistics (table_names.h), whatever the mark says
//   about the table. Where that would cost too much nothing is removed or offered. While a commit of the run may still
//   be on its way nothing is removed: a request is sent after its
//   manifest list and its metadata file were written, so one of these that is not named is the sign of it. It cannot
//   be applied any more if `is_fenced`: see run_journal.h. These signs are looked for in whole listings, however many
//   files there are.
// Cost: a listing of the table's folders. If files are found, what table_names.h says; for metadata files and manifest
//   lists nothing is read. Memory for `files_max` files that nobody names, and,
//   if more are found, a second listing and memory for the names of all that the run committed.
// Errors: those of reading; kLimit where it is not certain what is named. Nothing was removed then.
// Threads: one call a run.
// Source: docs/decisions/0007; Iceberg's own removal of orphans has the same aim, with an age in place of a proof.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "act/run_mark.h"
#include "act/table_names.h"
#include "ports/catalog.h"

namespace firn::act {

inline constexpr std::size_t kLeftoversMax = 10'000;

struct SweptRun {
  std::int64_t removed = 0;
  std::vector<std::string> kept;  // as far as `files_max` goes
  /// Nothing is left, and all was looked at: the mark may go.
  bool is_done = false;
};

struct SweepOptions {
  /// No commit of the run can be applied any more.
  bool is_fenced = false;
  /// Local files on their way of the process that wrote the mark are its own: it has ended.
  bool temporary_names = false;
  std::size_t files_max = kLeftoversMax;
  NamingLimits limits = {};
};

Result<SweptRun> SweepRun(ports::FileIO& io, const ports::LoadedTable& table, const RunMark& mark,
                          const SweepOptions& options);

}  // namespace firn::act
