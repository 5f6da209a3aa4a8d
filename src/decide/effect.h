// SPDX-License-Identifier: Apache-2.0
//
// What a piece of work does to a table and what it costs: predicted before, measured after, in the same shape.
//
// Guarantees: plain and bounded. Threads: value type. Source: docs/deciding.md.
#pragma once

#include <cstdint>

namespace firn::decide {

struct Effect {
  std::int64_t files_removed = 0;         // the table has so many data files less afterwards
  std::int64_t files_replaced = 0;        // data files that are read and written again
  std::int64_t delete_files_removed = 0;  // delete files that leave the table; what stands for them is not counted
  /// Opens of delete files that one read of the whole table is spared: a reader opens a delete file once for each data
  /// file that it applies to.
  std::int64_t delete_reads_saved = 0;
  std::int64_t bytes = 0;  // of the files that are read
  double seconds = 0;      // of one worker
  double reads_saved = 0;  // file opens a day that scan reports say are saved; 0 where there are none

  friend bool operator==(const Effect&, const Effect&) = default;
};

/// The effect of a part of the work, from 0 to 1.
Effect PartOf(const Effect& whole, double part);
Effect& operator+=(Effect& sum, const Effect& other);
/// Opens of files that one read of the whole table is spared; delete files that nothing applies to any more count as
/// one each.
std::int64_t OpensSaved(const Effect& effect);

}  // namespace firn::decide
