// SPDX-License-Identifier: Apache-2.0
//
// Shows what `firn analyze` found, for people.
//
// In: an analysis, the words that name the table in a command. Out: text.
// Guarantees: made from its arguments alone; names from the table cannot drive the terminal.
// Threads: pure.
#pragma once

#include <cstddef>
#include <string>

#include "service/analyze.h"

namespace firn::cli {

/// `lines_max`: of the list of columns.
std::string AnalysisText(const service::Analysis& analysis, const std::string& table_words, std::size_t lines_max);

}  // namespace firn::cli
