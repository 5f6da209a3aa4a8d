// SPDX-License-Identifier: Apache-2.0
//
// Walks the flat list of schema elements as the tree that it stands for. Internal to this folder.
//
// Guarantees: the visitor sees every leaf once, in column order; afterwards the whole list was one well-formed tree.
// Cost: O(elements). Errors: kCorrupt with the element's index. Threads: pure.
// Source: parquet.thrift SchemaElement; README.md "Nested Encoding".
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "format/parquet/metadata.h"

namespace firn::parquet {

/// Schemas nested deeper are refused.
inline constexpr std::size_t kSchemaDepthMax = 256;

struct LeafPlace {
  std::int32_t schema_index = 0;
  std::int16_t max_definition_level = 0, max_repetition_level = 0;
  /// Schema indexes of the groups above it, the root left out, outermost first.
  const std::vector<std::int32_t>* groups = nullptr;
};

Status WalkLeaves(const std::vector<SchemaElement>& schema, const std::function<void(const LeafPlace&)>& visit);

}  // namespace firn::parquet
