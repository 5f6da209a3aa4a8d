// SPDX-License-Identifier: Apache-2.0
//
// Shows a diagnosis to people: the score with its parts, the table in figures, the worst partitions, what to do next.
//
// Guarantees: shows what is in the diagnosis, rounded; long lists are cut and say so. What can be merged is what the
//   plan merges.
// Threads: pure.
#pragma once

#include <string>

#include "service/assess.h"

namespace firn::cli {

/// `table_words`: how the user names the table, for the command that is proposed.
std::string HealthText(const service::Assessment& found, const std::string& table_words, std::size_t partitions_max);

}  // namespace firn::cli
