// SPDX-License-Identifier: Apache-2.0
//
// Converts arrays of decoded values from one leaf type to another, for the fallback.
//
// In: values as the Parquet library decodes them (bool, int32_t, int64_t, parquet::Int96, float, double,
//   parquet::ByteArray, parquet::FLBA). Out: the same kind of array for the output's type.
// Guarantees: a value that does not fit is an error, never wrapped; INT96 is floored, also before 1970.
// Cost: O(values); memory for one array.
// Errors: kCorrupt for values outside of the promised or of the target's range.
// Threads: one owner.
// Source: Iceberg table spec, "Schema Evolution"; LogicalTypes.md; parquet.thrift INT96.
#pragma once

#include <cstddef>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/parquet/promotion.h"

namespace firn::splice {

class ValueConverter {
 public:
  static Result<ValueConverter> Make(const parquet::SchemaElement& from, const parquet::SchemaElement& to);

  /// An array of the output's value type, valid until the next call and as long as `values`.
  Result<const void*> Convert(const void* values, std::size_t count);

 private:
  ValueConverter() = default;
  Status ConvertDecimals(const void* values, std::size_t count);

  parquet::Promotion promotion_ = parquet::Promotion::kNone;
  parquet::SchemaElement from_, to_;
  __int128 decimal_limit_ = 0;     // of the output: values are below it
  std::vector<std::int64_t> out_;  // 8-byte cells: numbers, or pointers into bytes_
  Bytes bytes_;
};

/// One value in PLAIN encoding (BYTE_ARRAY without its length) as `count` decoded values.
class ConstantValues {
 public:
  static Result<ConstantValues> Make(const parquet::SchemaElement& element, Bytes plain, std::size_t count);
  const void* values() const { return cells_.data(); }

 private:
  ConstantValues() = default;
  std::vector<std::uint8_t> plain_;
  std::vector<std::uint64_t> cells_;
};

}  // namespace firn::splice
