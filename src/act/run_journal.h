// SPDX-License-Identifier: Apache-2.0
//
// One run of work on a table: its mark, its names, and what earlier runs left behind.
//
// In: the table when it is first loaded, and again at the end. Out: names of files; what was removed and what stays.
// Guarantees: the mark is there before the first file of the run, and goes when nothing of the run is left that is not
//   named. A run commits only while its mark stands: who takes it for dead removes the mark first, and looks for its
//   files afterwards. So a run that lives all the same cannot commit what was removed. Of another process nothing is
//   touched while it runs; where that cannot be known, not before it was not seen for kUnknownAgeMs. A commit of it
//   that may be on its way keeps its files until a later commit of this run to the same branch; and, where the catalog
//   could still apply it after a rollback of the branch, until kRequestAgeMs after it ended or was taken for dead too.
//   What the table names stays, and is not offered, whatever a mark says. Marks of a run on another catalog or another
//   name of the table, or on a later state of it, say nothing about what is needed here: they are left alone.
// Cost: a listing, a small file written and removed, a look before each commit; what leftovers.h costs where an
//   earlier run was killed. Of a run of more than an hour: a small file written again once an hour.
// Errors: Begin: those of writing; kConflict. Everything about earlier runs goes into notes and never ends the work.
// Threads: one owner; NewFileUuid by one thread at a time; BeSeen by any.
// Source: docs/decisions/0007.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "act/commit.h"
#include "act/run_mark.h"
#include "ports/catalog.h"

namespace firn::act {

/// Longer than any run is not seen: after so long one of another machine is taken for dead.
inline constexpr std::int64_t kUnknownAgeMs = std::int64_t{3} * 86'400'000;

/// Between two sights of a run.
inline constexpr std::int64_t kSightMs = 3'600'000;

/// Longer than any request is on its way.
inline constexpr std::int64_t kRequestAgeMs = 86'400'000;

/// What became of files of earlier runs.
struct Tidied {
  std::int64_t removed = 0;
  std::vector<std::string> kept;
  std::vector<std::string> notes;
};

class RunJournal {
 public:
  /// `environment` knows processes, and outlives the journal.
  RunJournal(const CommitEnvironment& environment, std::string ref);
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

  /// Finds marks of earlier runs and removes what is certainly not needed. Once; before the work, because the disk may
  /// be full of it.
  void LookAtEarlier(const ports::LoadedTable& table);
  /// Before the first file, and whenever the run plans again: kConflict if the table was put back to before the first.
  Status Begin(const ports::LoadedTable& table);
  /// Empty before Begin.
  const std::string& run() const { return mark_.run; }
  std::string NewFileUuid() { return UuidOf(mark_.run, env_.random); }
  /// Now and then while the run works: others see by it that it lives.
  void BeSeen();
  /// kCancelled if somebody took the run for dead.
  Status CheckStands();
  /// After the last commit. `leaves_files`: something is left of this run, or may be. `now`: the table, if it was
  /// loaded again; `has_committed`: with a commit of this run in it.
  Tidied End(bool leaves_files, const std::optional<ports::LoadedTable>& now, bool has_committed);
  bool has_earlier() const { return !earlier_.empty(); }

 private:
  struct Earlier {
    RunMark mark;
    std::vector<std::string> kept;
  };

  void LookAt(const ports::LoadedTable& table, RunMark mark);
  Status CheckNotPutBack(const iceberg::TableMetadata& metadata) const;
  Status TakeForDead(const ports::LoadedTable& table, RunMark& mark);
  Status RemoveFirstMark(const ports::LoadedTable& table, const RunMark& mark);
  void Tidy(const ports::LoadedTable& table, Earlier& earlier, bool is_fenced);
  bool IsOf(const ports::LoadedTable& table, const RunMark& mark) const;
  bool WasSeenLately(const RunMark& mark, const std::string& folder) const;
  bool IsFenced(const RunMark& mark) const;
  void Note(std::string text);

  const CommitEnvironment& env_;
  std::string ref_;
  std::string folder_;
  RunMark mark_;
  std::atomic<std::int64_t> seen_ms_ = 0;
  std::vector<Earlier> earlier_;  // of which something stays
  Tidied tidied_;
};

}  // namespace firn::act
