// SPDX-License-Identifier: Apache-2.0
//
// Reads numbers of stored records, with errors that name the member.
//
// Guarantees: a number is finite.
// Threads: pure. Errors: kCorrupt.
#pragma once

#include <string_view>

#include "base/result.h"
#include "format/json/json.h"

namespace firn::decide {

/// "`member` is not `wanted`"
Error Wrong(std::string_view member, std::string_view wanted);
Result<double> GetDouble(const json::Value& object, std::string_view name);

}  // namespace firn::decide
