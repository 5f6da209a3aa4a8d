// SPDX-License-Identifier: Apache-2.0
//
// Writes what is known of a partition, and the verdict about it, as JSON.
//
// Guarantees: the members of the service's partition lists: "text", "files", "bytes", "small_files" and so on, with the
//   parts of the noise under "noise_parts". Numbers that are not known are null.
// Threads: pure.
#pragma once

#include <string_view>

#include "format/json/json.h"
#include "orient/triage.h"

namespace firn::orient {

/// `text`: of the partition, for people.
json::Value ToJson(const PartitionState& state, std::string_view text, const Verdict& verdict);
/// The verdict alone: kind, reason and numbers.
json::Value ToJson(const Verdict& verdict);

}  // namespace firn::orient
