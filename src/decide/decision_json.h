// SPDX-License-Identifier: Apache-2.0
//
// Writes decisions as JSON and reads them back.
//
// Guarantees: member names are those of the headers, times end in `_ms`; what is written of a Bounded decision is read
//   back equal. An effect that is not there is null.
// Errors: kCorrupt naming the member, kLimit for a record beyond the limits of its header.
// Threads: pure.
#pragma once

#include "decide/decision.h"
#include "format/json/json.h"

namespace firn::decide {

json::Value ToJson(const Effect& effect);
json::Value ToJson(const Decision& decision);

Result<Effect> ParseEffect(const json::Value& value);
Result<Decision> ParseDecision(const json::Value& value);

}  // namespace firn::decide
