// SPDX-License-Identifier: Apache-2.0
//
// Shows an outcome to people: what was committed, how the bytes were merged, what failed, what was left behind.
//
// Guarantees: every failure and every leftover file is shown, never cut.
// Threads: pure.
#pragma once

#include <string>
#include <vector>

#include "act/outcome.h"

namespace firn::cli {

/// How the user names the table in the commands that are proposed.
struct OutcomeWords {
  std::string table;
  std::string selected;  // with the options that say what is looked at
};

/// Ends with what to do next. `lines_max` bounds the list of commits.
std::string OutcomeText(const act::Outcome& outcome, const OutcomeWords& words, std::size_t lines_max);

/// 0 without failures; 7 if an outcome is unknown; 10 if the work was cancelled; 11 when a part was committed; else the
/// code of the first failure.
int ExitOf(const act::Outcome& outcome);
int ExitOf(const std::vector<act::GroupFailure>& failures, bool is_committed);
/// Something is to be said about what earlier runs left.
template <class Outcome>
bool HasTidied(const Outcome& outcome) {
  return outcome.leftovers_removed > 0 || !outcome.leftover_files.empty() || !outcome.notes.empty();
}

/// "Removed 3 files that ..."; empty for none.
std::string TidiedText(std::int64_t removed);

std::string NotesText(const std::vector<std::string>& notes);

/// What was not done, and files that may be left behind; empty if there are none.
std::string FailureText(const std::vector<act::GroupFailure>& failures, const std::vector<std::string>& leftovers);
/// What is said when no commit is known.
std::string NothingText(const std::vector<act::GroupFailure>& failures);
/// What to do about failures; empty without any.
std::string FailureStep(const std::vector<act::GroupFailure>& failures, const std::string& table_words);

}  // namespace firn::cli
