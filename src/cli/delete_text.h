// SPDX-License-Identifier: Apache-2.0
//
// Shows plans and outcomes of rewriting delete files to people.
//
// Guarantees: every failure and every leftover file is shown, never cut; `lines_max` bounds other lists.
// Threads: pure.
#pragma once

#include <cstddef>
#include <string>

#include "act/delete_outcome.h"
#include "decide/delete_rewrite.h"

namespace firn::cli {

std::string DeletePlanText(const observe::DeleteFacts& facts, const decide::DeletePlan& plan, std::size_t lines_max);
/// Ends with what to do next. `table_words`: how the user names the table.
std::string DeleteOutcomeText(const act::DeleteOutcome& outcome, const std::string& table_words);

}  // namespace firn::cli
