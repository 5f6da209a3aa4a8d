// SPDX-License-Identifier: Apache-2.0
//
// A run of work on one table with its journal around it: what earlier runs left, its own mark, the rest of it.
//
// In: what a command or a job works with. Out: the same with a journal in it; at the end what was tidied up.
// Guarantees: those of act/run_journal.h. Where processes are not known there is no journal, and nothing is looked for.
// Cost, Errors: those of act/run_journal.h. Threads: one owner.
// Source: docs/decisions/0007.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "act/commit.h"
#include "act/outcome.h"
#include "act/run_journal.h"

namespace firn::service {

class TidiedRun {
 public:
  /// `environment` outlives the run.
  TidiedRun(const act::CommitEnvironment& environment, ports::TableIdentifier table, const std::string& ref);
  ~TidiedRun();
  TidiedRun(const TidiedRun&) = delete;
  TidiedRun& operator=(const TidiedRun&) = delete;

  /// For everything that the run does.
  act::CommitEnvironment& environment() { return environment_; }
  /// Each time that the run loads the table to plan; the first one counts.
  void SeeTable(const ports::LoadedTable& table);
  /// Once, at the end. `leaves_files`: of the run something is left, or may be.
  act::Tidied End(bool leaves_files, bool has_committed);

 private:
  act::CommitEnvironment environment_;
  ports::TableIdentifier table_;
  std::optional<act::RunJournal> journal_;
  bool has_seen_ = false;
};

/// Files are left that nobody names, or a commit may have left some.
template <class Outcome>
bool LeavesFiles(const Outcome& outcome) {
  const auto is_unknown = [](const act::GroupFailure& f) { return f.error.code == Code::kOutcomeUnknown; };
  return !outcome.leftover_files.empty() || std::ranges::any_of(outcome.failures, is_unknown);
}

/// Adds what was tidied up to an outcome.
template <class Outcome>
void AddTidied(act::Tidied tidied, Outcome& outcome) {
  outcome.leftovers_removed += tidied.removed;
  for (std::string& file : tidied.kept) outcome.leftover_files.push_back(std::move(file));
  for (std::string& note : tidied.notes) outcome.notes.push_back(std::move(note));
}

}  // namespace firn::service
