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
  std::int64_t delete_files_removed = 0;  // delete files that readers no longer open; one counted for each data file
  std::int64_t bytes = 0;                 // of the files that are read
  double seconds = 0;                     // of one worker
  double reads_saved = 0;                 // file opens a day that scan reports say are saved; 0 where there are none

  friend bool operator==(const Effect&, const Effect&) = default;
};

}  // namespace firn::decide
