// SPDX-License-Identifier: Apache-2.0
//
// Parses a SQL-like condition on columns, as it is given to --where.
//
// In: text such as  day >= '2024-01-01' AND region IN ('eu', 'us') AND NOT (shop IS NULL OR id BETWEEN 1 AND 9).
// Out: a tree of tests; names and literals are not looked at yet (partition_selection.h binds them).
// Guarantees: depth and size of the tree are bounded; keywords without regard to case; '' is a quote inside a string,
//   "name" and `name` are columns; DATE and TIMESTAMP before a string are allowed and mean the string.
// Cost: O(text). Threads: pure.
// Errors: kInvalidArgument with the position (from 1) and what was expected there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firn::decide {

struct WhereLiteral {
  enum class Kind : std::uint8_t { kNumber, kString, kBool, kHex };
  Kind kind = Kind::kNumber;
  std::string text;  // number as written, characters of the string, "true" or "false", hex digits
};

enum class WhereTest : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
  kIsNull,
  kNotNull,
};

struct Where {
  enum class Kind : std::uint8_t { kAnd, kOr, kNot, kTest, kConstant };
  Kind kind = Kind::kConstant;
  std::vector<Where> children;  // kAnd, kOr: two or more; kNot: one
  std::string column;           // kTest
  WhereTest test = WhereTest::kEqual;
  std::vector<WhereLiteral> literals;  // kTest: as many as the test takes
  bool constant = true;                // kConstant
};

Result<Where> ParseWhere(std::string_view text);

}  // namespace firn::decide
