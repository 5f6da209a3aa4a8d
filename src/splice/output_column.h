// SPDX-License-Identifier: Apache-2.0
//
// A leaf of the output schema with what the merge needs to know of it.
//
// Guarantees: made by ColumnsOf (schema_match.h): consistent with the schema.
// Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "format/parquet/metadata.h"
#include "splice/value_order.h"

namespace firn::splice {

/// A repeated element on the path of a leaf that other leaves are below of, too.
struct SharedList {
  std::int32_t element = 0;                      // in the schema
  std::uint32_t repetition = 0, definition = 0;  // levels of its elements
};

struct OutputColumn {
  std::int32_t index = 0;  // among the leaves
  parquet::SchemaElement element;
  parquet::PhysicalType type = parquet::PhysicalType::kInt32;
  std::size_t width = 0;  // of a PLAIN value; 0: BYTE_ARRAY and BOOLEAN
  std::uint32_t max_definition = 0, max_repetition = 0;
  std::vector<std::string> path;
  std::vector<std::string> field_path;           // `path`, with one spelling for the names inside of lists and maps
  std::vector<parquet::Repetition> repetitions;  // of the elements on the path
  /// By repetition level: the definition level from which the list of that level has elements; 0 for level 0.
  std::vector<std::uint32_t> element_definitions;
  std::vector<SharedList> shared_lists;  // from the outside in
  std::int32_t top_field = 0;            // which child of the root it is or is below of
  bool in_variant = false;               // below a group that is a variant
  ValueOrder order = ValueOrder::kNone;

  bool nested() const { return max_repetition > 0; }
};

}  // namespace firn::splice
