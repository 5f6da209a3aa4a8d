// SPDX-License-Identifier: Apache-2.0
//
// Cuts the text of a condition into words, literals and signs.
//
// Guarantees: every token has its position in the text; the text is used up.
// Errors: kInvalidArgument with the position for open quotes and characters that mean nothing.
// Threads: pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firn::decide {

struct WhereToken {
  enum class Kind : std::uint8_t { kWord, kQuotedName, kString, kHex, kNumber, kSign, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;          // without quotes; signs as written
  std::size_t position = 1;  // of its first character, from 1
};

/// The last token is kEnd.
Result<std::vector<WhereToken>> LexWhere(std::string_view text);

/// kInvalidArgument: "condition, character 7: message".
Error WhereError(std::size_t position, std::string_view message);

}  // namespace firn::decide
