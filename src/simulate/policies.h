// SPDX-License-Identifier: Apache-2.0
//
// Makes policies by name.
//
// Errors: kInvalidArgument that lists the names.
// Guarantees: every call gives a policy without any state.
// Threads: pure.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "simulate/merge_policy.h"

namespace firn::simulate {

/// Firn's own first.
std::vector<std::string_view> PolicyNames();
Result<std::unique_ptr<MergePolicy>> MakePolicy(std::string_view name, const PolicyOptions& options);

}  // namespace firn::simulate
