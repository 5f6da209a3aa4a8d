// SPDX-License-Identifier: Apache-2.0
//
// Translates the definition levels of one leaf into those of another leaf of the same shape, for the fallback.
//
// In: the ways from the root to both leaves. Out: a table.
// Guarantees: null, empty and present stay what they are at every depth, also when lists have another layout or when
//   required elements became optional. A leaf that a file lacks gets its levels from a sibling: it is null (or has a
//   value) exactly where their common struct is there.
// Cost: O(depth). Errors: kUnsupported if the shapes differ.
// Threads: pure.
// Source: README.md "Nested Encoding"; LogicalTypes.md "Nested Types".
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "format/parquet/nesting.h"

namespace firn::splice {

struct LevelTable {
  /// Output level by input level; kForbidden where the input is null and the output cannot be.
  std::vector<std::int16_t> definition;
  /// Entries of the input with a higher repetition level go on inside a value that was already seen, and are dropped.
  std::int16_t repetition_max = 0;
  static constexpr std::int16_t kForbidden = -1;
};

/// Both paths end at leaves that hold the same column.
Result<LevelTable> TranslateLevels(const parquet::NestPath& from, const parquet::NestPath& to);

/// `missing` is a leaf of the output without one in the input; `from` and `to` are those of a sibling. With
/// `has_value` the leaf holds a value where the common struct is there, else null.
Result<LevelTable> LevelsOfMissing(const parquet::NestPath& from, const parquet::NestPath& to,
                                   const parquet::NestPath& missing, bool has_value);

/// How many nodes from the root on are the same in two paths of one tree.
std::size_t CommonSteps(const parquet::NestPath& a, const parquet::NestPath& b);

}  // namespace firn::splice
