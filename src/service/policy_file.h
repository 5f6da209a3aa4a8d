// SPDX-License-Identifier: Apache-2.0
//
// Reads rules for many tables from one YAML file.
//
// In: text of the file, its name for messages. Out: a FleetPolicy.
// Guarantees: every key is known and every value has been checked: what is misspelled, given twice, out of range,
//   contradicts its rule, or can never have an effect is an error that names file, line and key.
// Cost: the file is at most kPolicyFileBytesMax and kPolicyRulesMax rules. Threads: pure.
// Errors: kInvalidArgument with "file:line: key: ...", kLimit. Source: docs/deciding.md.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "service/fleet_policy.h"

namespace firn::service {

inline constexpr std::size_t kPolicyFileBytesMax = std::size_t{1} << 20;
inline constexpr std::size_t kPolicyRulesMax = 10'000;

Result<FleetPolicy> ParsePolicyFile(std::string_view file, const std::string& text);

}  // namespace firn::service
