// SPDX-License-Identifier: Apache-2.0
//
// Decodes columns of one input through Arrow and encodes them again in the output's types (tier P7).
//
// In: an input file, the output leaves that need it. Out: a Parquet file in memory with just those leaves (for nested
//   columns: the whole top-level fields that hold them), in the input's row order, V1 pages, the output's codec.
// Guarantees: values are converted only by the promotions of the Iceberg specification (int to long, float to
//   double, wider decimals, date to timestamp, INT96 to timestamp with floor); anything else is kUnsupported.
// Cost: full decode and encode of the columns; memory about the decoded size of `rows_per_batch` rows.
// Errors: kCorrupt, kUnsupported with column and reason; Arrow's exceptions end here.
// Threads: one call a thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_io.h"
#include "format/parquet/metadata.h"
#include "splice/splice.h"

namespace firn::splice {

struct FallbackRequest {
  const std::vector<parquet::SchemaElement>* output_schema = nullptr;
  /// Top-level fields of the output schema (index among the root's children) to produce.
  std::vector<std::int32_t> output_fields;
  /// For each output leaf: where it is in the input (the Input's columns).
  const std::vector<ColumnSource>* columns = nullptr;
  parquet::Codec codec = parquet::Codec::kZstd;
  std::int64_t memory_bytes = 256 << 20;
};

struct FallbackResult {
  Bytes file;                               // a whole Parquet file
  std::vector<std::int32_t> output_leaves;  // its leaves, as indexes of output leaves
};

Result<FallbackResult> DecodeThroughArrow(RandomAccessSource& input, const FallbackRequest& request);

}  // namespace firn::splice
