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

struct OutputColumn {
  std::int32_t index = 0;  // among the leaves
  parquet::SchemaElement element;
  parquet::PhysicalType type = parquet::PhysicalType::kInt32;
  std::size_t width = 0;  // of a PLAIN value; 0: BYTE_ARRAY and BOOLEAN
  std::uint32_t max_definition = 0, max_repetition = 0;
  std::vector<std::string> path;
  std::vector<parquet::Repetition> repetitions;  // of the elements on the path
  std::int32_t top_field = 0;                    // which child of the root it is or is below of
  ValueOrder order = ValueOrder::kNone;

  bool nested() const { return max_repetition > 0; }
};

}  // namespace firn::splice
