// SPDX-License-Identifier: Apache-2.0
//
// The range of the deleted keys, by which row groups of data files are passed over.
//
// In: deleted keys; statistics of row groups. Out: whether a row group can hold a deleted row.
// Guarantees: only the keys themselves and the statistics in the footer decide, never bounds in manifests, which some
//   writers get wrong; only integers, dates, times and small decimals; statistics that are missing, inverted or of an
//   unknown order decide nothing; nulls are passed over only if there are none on one side.
// Threads: filled by one, then shared. Cost: O(key columns).
// Source: parquet.thrift Statistics, ColumnOrder.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "act/equality_match_keys.h"

namespace firn::act {

class KeyRanges {
 public:
  explicit KeyRanges(const KeyLayout& layout);
  void Clear();
  void Add(const KeyBatch& batch);
  bool MayMatch(const splice::ScanFile& file, const KeySources& sources, const parquet::RowGroup& group) const;

 private:
  struct Range {
    std::size_t place = 0;  // of the field in a key
    std::size_t width = 0;  // 0: the field has no range
    std::int64_t lowest = std::numeric_limits<std::int64_t>::max();
    std::int64_t highest = std::numeric_limits<std::int64_t>::min();
    bool has_null = false;
  };
  std::vector<Range> ranges_;
};

}  // namespace firn::act
