// SPDX-License-Identifier: Apache-2.0
//
// Says in sentences what an analysis stands on: what it has used, and what it had to assume.
//
// In: an analysis that is complete but for these. Out: its `inputs` and `assumptions`.
// Guarantees: no sentence claims more than the analysis holds.
// Threads: pure. Errors: none. Source: docs/analyze.md.
#pragma once

#include <string>

#include "service/analyze.h"

namespace firn::service {

/// The footer, and the columns.
inline constexpr double kRequestsPerFile = 2;

/// Everything that it recommends, in a few sentences.
std::string Summary(const Analysis& analysis);
void ListInputs(Analysis& analysis);
void ListAssumptions(Analysis& analysis);

}  // namespace firn::service
