// SPDX-License-Identifier: Apache-2.0
//
// Shows what `firn analyze` found, for people and as JSON.
//
// In: an analysis, the words that name the table in a command. Out: text; a JSON value with the same words.
// Guarantees: made from its arguments alone; names from the table cannot drive the terminal.
// Threads: pure.
#pragma once

#include <cstddef>
#include <string>

#include "format/json/json.h"
#include "service/analyze.h"

namespace firn::cli {

/// `lines_max`: of the list of columns.
std::string AnalysisText(const service::Analysis& analysis, const std::string& table_words, std::size_t lines_max);
json::Value AnalysisJson(const service::Analysis& analysis);

}  // namespace firn::cli
