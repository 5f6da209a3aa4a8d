// SPDX-License-Identifier: Apache-2.0
//
// Shows what `firn analyze` found, for people.
//
// In: an analysis, what the user can do about it. Out: text.
// Guarantees: made from its arguments alone; names from the table cannot drive the terminal.
// Threads: pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "act/property_change.h"
#include "service/analyze.h"

namespace firn::cli {

struct AnalysisSteps {
  std::string table_words;  // with the options that say what is looked at
  /// What has to be set for the recommended file size to count; empty: nothing.
  std::vector<act::PropertyChange> changes;
  std::string read_only;    // why the table cannot be changed; empty: it can
  bool is_applied = false;  // they are set by the same command
};

/// `lines_max`: of the list of columns.
std::string AnalysisText(const service::Analysis& analysis, const AnalysisSteps& steps, std::size_t lines_max);

}  // namespace firn::cli
