// SPDX-License-Identifier: Apache-2.0
//
// Shows a plan to people: what is merged, what it takes, what is left alone and why.
//
// Guarantees: shows what is in the plan, rounded; long lists are summed up and say so.
// Threads: pure.
#pragma once

#include <string>

#include "decide/plan.h"
#include "observe/facts.h"

namespace firn::cli {

/// `lines_max` bounds each of the two lists.
std::string PlanText(const observe::Facts& facts, const decide::Plan& plan, std::size_t lines_max);

}  // namespace firn::cli
