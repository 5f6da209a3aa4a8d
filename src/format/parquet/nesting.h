// SPDX-License-Identifier: Apache-2.0
//
// What a schema means: fields, lists and maps, with the legacy layouts of lists and maps resolved.
//
// In: a flat list of schema elements. Out: a tree in which a list has one child (its element) and a map two (key and
//   value), however many groups the file spends on them.
// Guarantees: the definition levels at which each node begins to be there; two files whose trees have the same shape
//   hold the same nesting, even if their levels differ. Every leaf appears once, in column order.
// Cost: O(elements). Errors: kCorrupt as LeavesOf. Threads: pure.
// Source: LogicalTypes.md "Nested Types" with the backward-compatibility rules; README.md "Nested Encoding".
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "format/parquet/metadata.h"

namespace firn::parquet {

enum class NestKind : std::uint8_t { kPrimitive, kStruct, kList, kMap };

struct NestNode {
  NestKind kind = NestKind::kPrimitive;
  /// The element that carries name and field id. In a 2-level list that of the element is the repeated one.
  std::int32_t schema_index = 0;
  /// Definition levels from here on: the value is not null.
  std::int16_t present_level = 0;
  /// Lists and maps: definition levels from here on: there is an entry. Others: as present_level.
  std::int16_t entry_level = 0;
  /// Repeated ancestors of this node, its own repetition of entries left out.
  std::int16_t repetition_level = 0;
  std::int32_t leaf = -1;  // primitives: column index
  std::vector<NestNode> children;
};

/// The fields of the root, in order.
Result<std::vector<NestNode>> NestingOf(const std::vector<SchemaElement>& schema);

/// The way from a root field down to a leaf; the pointers point into the tree.
using NestPath = std::vector<const NestNode*>;
/// By column index.
std::vector<NestPath> LeafPaths(const std::vector<NestNode>& fields);

}  // namespace firn::parquet
