// SPDX-License-Identifier: Apache-2.0
//
// Writes names of several levels with dots between them, so that they can be read back.
//
// In: levels; text. Out: text; levels. A level that has a dot or a quotation mark stands in quotation marks, in which a
//   quotation mark is written twice: `a."b.c"`.
// Guarantees: different levels give different text, and reading gives the levels that were written.
// Threads: pure.
// Errors: kInvalidArgument for an empty level, and for marks that do not close.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firn::ports {

std::string DottedName(std::span<const std::string> levels);
Result<std::vector<std::string>> SplitDottedName(std::string_view text);

}  // namespace firn::ports
