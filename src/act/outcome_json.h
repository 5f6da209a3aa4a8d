// SPDX-License-Identifier: Apache-2.0
//
// Writes an outcome as JSON.
//
// Guarantees: member names are those of outcome.h and delete_outcome.h; tiers that did nothing are left out.
// Threads: pure.
#pragma once

#include "act/delete_outcome.h"
#include "act/outcome.h"
#include "format/json/json.h"

namespace firn::act {

json::Value ToJson(const Outcome& outcome);
json::Value ToJson(const DeleteOutcome& outcome);

}  // namespace firn::act
