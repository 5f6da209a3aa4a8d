// SPDX-License-Identifier: Apache-2.0
//
// Writes a diagnosis as JSON.
//
// Guarantees: member names are those of diagnosis.h; partitions appear by their text.
// Threads: pure.
#pragma once

#include "format/json/json.h"
#include "orient/diagnosis.h"

namespace firn::orient {

/// The `partitions_max` worst partitions; "partitions_left_off" counts the others.
json::Value ToJson(const Diagnosis& diagnosis, const observe::Facts& facts, std::size_t partitions_max);

}  // namespace firn::orient
