// SPDX-License-Identifier: Apache-2.0
//
// Writes a summary of facts as JSON.
//
// Guarantees: member names are those of facts.h; files, partitions and manifests are counted, not listed.
// Threads: pure.
#pragma once

#include "format/json/json.h"
#include "observe/facts.h"

namespace firn::observe {

json::Value SummaryToJson(const Facts& facts);

}  // namespace firn::observe
