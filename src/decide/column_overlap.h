// SPDX-License-Identifier: Apache-2.0
//
// How much of a partition a reader has to open who looks for one value of a column: now, and if the rows were sorted.
//
// In: sizes of files, and their bounds as numbers that are as far apart as the values. Out: shares from 0 to 1.
// Guarantees: disjoint files of one size give 1 / files, files that all span everything give 1; a file without bounds
//   cannot be left out by anybody and counts as spanning everything.
// Cost: O(files + places). Threads: pure.
// Source: Iceberg table spec, "Scan Planning" (files are left out by their bounds).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"

namespace firn::decide {

/// A file's bounds as indexes into the sorted list of all bounds of the partition, each value once.
struct FileSpan {
  std::int64_t size_bytes = 0;
  std::int64_t record_count = 0;
  std::optional<std::uint32_t> low, high;  // absent: not known
};

/// The share of the bytes that stays for a predicate `column = value` with the value of a row taken by chance. Rows of
/// a file are taken to be even over what it spans. 1 for no files. `places`: where the bounds lie, ascending;
/// `value_width`: from one value to the next (1 for integers), 0 where they are dense.
double PointShare(std::span<const FileSpan> files, std::span<const double> places, double value_width);

/// The same if the rows were sorted by the column and written into files of the target size. `values_max`: the most
/// different values that there can be, if known.
double SortedPointShare(std::int64_t partition_bytes, std::int64_t target_size_bytes,
                        std::optional<std::int64_t> values_max);

/// Files of about the target size that so many bytes become; at least 1.
std::int64_t LastingFiles(double bytes, std::int64_t target_size_bytes);

/// What sorting by a column would bring.
struct SortCandidate {
  FieldId field_id = 0;
  std::string column;  // dotted name
  std::string type;
  double bounds_share = 0;     // files that have bounds of the column
  double point_share_now = 1;  // over partitions, weighted by their bytes
  double point_share_sorted = 1;
  std::int64_t files = 0, partitions = 0;  // looked at
  bool is_sort_column = false;             // the first one of the table's sort order
  bool pays = false;
  std::string reason;  // a sentence
};

/// Sets `pays` and `reason` by the two shares.
void JudgeSort(SortCandidate& candidate);

}  // namespace firn::decide
