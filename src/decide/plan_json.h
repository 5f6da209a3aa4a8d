// SPDX-License-Identifier: Apache-2.0
//
// Writes a plan as JSON.
//
// Guarantees: member names are those of plan.h; partitions appear by their text. Files are counted, not named: facts
//   know them by manifest and ordinal only.
// Threads: pure.
#pragma once

#include "decide/plan.h"
#include "format/json/json.h"

namespace firn::decide {

json::Value ToJson(const Plan& plan, const observe::Facts& facts);
json::Value ToJson(const Refusal& refusal);

}  // namespace firn::decide
