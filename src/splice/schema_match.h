// SPDX-License-Identifier: Apache-2.0
//
// Finds, for each leaf of the output, where its values are in an input and whether they can be moved as they are.
//
// In: the output schema, an input's schema, and the caller's ColumnSource (or none: leaf i is leaf i).
// Out: per output leaf a ColumnRoute.
// Guarantees: values are moved only between leaves of the same physical type whose logical types mean the same (unit,
//   scale, sign), and whose nesting differs at most in required elements that became optional. Everything else is for
//   the fallback.
// Cost: O(elements). Threads: pure.
// Errors: kInvalidArgument (broken output schema, no such leaf), kUnsupported (schemas differ).
// Source: README.md "Nested Encoding"; LogicalTypes.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "splice/output_column.h"
#include "splice/splice.h"

namespace firn::splice {

/// How the levels of an input leaf become those of the output.
struct LevelMap {
  std::uint32_t input_max_definition = 0;
  /// By input level. Empty: levels stay as they are.
  std::vector<std::uint32_t> definition;
  bool identity() const { return definition.empty(); }
};

struct ColumnRoute {
  enum class Kind : std::uint8_t { kMove, kDecode, kNull, kValue, kLineage };
  Kind kind = Kind::kMove;
  std::int32_t leaf = -1;  // kMove; kLineage if the input has such a column, which is moved
  LevelMap levels;         // with `leaf`
  std::string reason;      // kDecode: why

  /// Whether pages of `leaf` go into the output, or most of their values.
  bool reads_pages() const { return kind == Kind::kMove || (kind == Kind::kLineage && leaf >= 0); }
};

Result<std::vector<OutputColumn>> ColumnsOf(const std::vector<parquet::SchemaElement>& schema);

/// `columns` is empty, or has an element an output leaf.
Result<std::vector<ColumnRoute>> MatchSchema(const std::vector<OutputColumn>& output,
                                             const std::vector<OutputColumn>& input,
                                             const std::vector<ColumnSource>& columns);

}  // namespace firn::splice
