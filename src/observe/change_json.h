// SPDX-License-Identifier: Apache-2.0
//
// Writes changes as JSON.
//
// Guarantees: member names are those of change.h; partitions appear by their text, files as counts and bytes.
// Threads: pure.
#pragma once

#include "format/json/json.h"
#include "observe/change.h"

namespace firn::observe {

/// The first `partitions_max` partitions; "partitions_left_off" counts the others.
json::Value ToJson(const Change& change, std::size_t partitions_max);
/// Without changes beyond the newest `changes_max`; "changes_left_off" counts the others.
json::Value ToJson(const ChangeSet& set, std::size_t changes_max, std::size_t partitions_max);

}  // namespace firn::observe
