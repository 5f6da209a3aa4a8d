// SPDX-License-Identifier: Apache-2.0
//
// What may be asked for single columns of an output file.
//
// Guarantees: a column without options of its own gets the defaults: a Bloom filter where all inputs have one and it
//   can be had without a look at single values, a dictionary where it pays, statistics.
// Threads: values.
#pragma once

#include <cstdint>
#include <optional>

namespace firn::splice {

struct ColumnOptions {
  /// True: also where that costs a look at every value; false: never.
  std::optional<bool> bloom_filter;
  double bloom_filter_fpp = 0.01;                          // share of false positives, above 0 and below 1
  std::optional<std::int64_t> bloom_filter_distinct = {};  // values that are expected: bounds the size
  bool dictionary = true;
  bool statistics = true;  // bounds and null counts of chunks and pages
};

}  // namespace firn::splice
