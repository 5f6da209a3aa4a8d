// SPDX-License-Identifier: Apache-2.0
//
// Shows an outcome to people: what was committed, how the bytes were merged, what failed, what was left behind.
//
// Guarantees: every failure and every leftover file is shown, never cut.
// Threads: pure.
#pragma once

#include <string>

#include "act/outcome.h"

namespace firn::cli {

/// Ends with what to do next. `lines_max` bounds the list of commits.
/// `table_words`: how the user names the table, for the command that is proposed.
std::string OutcomeText(const act::Outcome& outcome, const std::string& table_words, std::size_t lines_max);

/// 0 without failures; 7 if an outcome is unknown; 10 if the work was cancelled; 11 when a part was committed; else the
/// code of the first failure.
int ExitOf(const act::Outcome& outcome);

}  // namespace firn::cli
