// SPDX-License-Identifier: Apache-2.0
//
// Shows an analysis as JSON, the same for the command, the state and the API.
//
// In: an analysis. Out: a JSON value with the words of docs/analyze.md.
// Guarantees: made from its argument alone.
// Threads: pure. Errors: none.
#pragma once

#include "format/json/json.h"
#include "service/analyze.h"

namespace firn::service {

json::Value ToJson(const Analysis& analysis);

}  // namespace firn::service
