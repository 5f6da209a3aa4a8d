// SPDX-License-Identifier: Apache-2.0
//
// Compares values as statistics hold them (PLAIN, byte arrays without their length) in the order of their type.
//
// Guarantees: a total order on the values that IsOrdered accepts; -0 equals +0; NaN and values of a wrong width are
//   not accepted. Types for which the format defines no order are kNone.
// Cost: O(bytes). Threads: pure.
// Source: parquet.thrift ColumnOrder; LogicalTypes.md.
#pragma once

#include "base/bytes.h"
#include "format/parquet/metadata.h"

namespace firn::splice {

enum class ValueOrder : std::uint8_t {
  kNone,
  kBoolean,
  kInt32,
  kInt64,
  kUint32,
  kUint64,
  kFloat,
  kDouble,
  kFloat16,
  kBytes,
  kDecimalBytes,
};

ValueOrder OrderOf(const parquet::SchemaElement& element);

/// Whether `value` is a value of the type that has a place in the order. `type_length` > 0 for fixed-length arrays.
bool IsOrdered(ValueOrder order, ByteView value, std::int32_t type_length);

/// Negative, 0 or positive. Both values are ordered.
int CompareValues(ValueOrder order, ByteView a, ByteView b);

/// Writes the sign that a bound of zero must have: -0 as a minimum, +0 as a maximum. Only floating point changes.
void SetZeroSign(ValueOrder order, bool is_minimum, Bytes& value);

/// Cuts a long minimum or maximum down to about `size_max` bytes so that it still is a bound and a valid value (text
/// is cut between code points). False: it was left as it is.
bool ShortenBound(const parquet::SchemaElement& element, ValueOrder order, bool is_minimum, std::size_t size_max,
                  Bytes& value);

}  // namespace firn::splice
