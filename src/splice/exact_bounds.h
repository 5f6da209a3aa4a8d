// SPDX-License-Identifier: Apache-2.0
//
// Minimum and maximum of values that were encoded for a page.
//
// In: a page's values as PLAIN, bits or dictionary indices. Out: exact bounds, to be used where rows were left out:
//   those of the inputs would be bounds still, but readers take them for the least and greatest value.
// Requires: 8 bytes behind the values may be loaded (RawBuffer's slack).
// Guarantees: NaN takes no part; without any other value, and for types without an order, the bounds are unknown.
// Cost: below 1 ns a number or index, a few for byte arrays.
// Threads: pure.
// Source: parquet.thrift Statistics, ColumnOrder.
#pragma once

#include <cstdint>

#include "splice/bounds.h"
#include "splice/output_column.h"
#include "splice/page_values.h"

namespace firn::splice {

/// `plain` holds `count` values.
Bounds BoundsOfPlain(const OutputColumn& column, ByteView plain, std::size_t count);
Bounds BoundsOfBits(ByteView bits, std::size_t count);
/// `indices` as in a page: bit width, then runs; each is below the number of entries.
Bounds BoundsOfIndices(const OutputColumn& column, ByteView indices, std::size_t count, const EntryTable& entries);

}  // namespace firn::splice
