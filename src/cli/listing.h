// SPDX-License-Identifier: Apache-2.0
//
// Writes rows of named values: as an aligned table for people, or as a JSON array of objects.
//
// Guarantees: the same names in both; JSON rows are written as they come, so any number of rows is fine; a table stops
//   at `rows_max` rows and says how many follow.
// Cost: JSON: one row; table: `rows_max` rows. Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "cli/terminal.h"
#include "cli/text_table.h"

namespace firn::cli {

/// A size in bytes: "110 KiB" for people, a number in JSON.
struct ByteCount {
  std::int64_t value = 0;
};

/// monostate: null, "-" for people. Times are UTC for people, milliseconds in JSON. Numbers are counts with separators;
/// ids are not: give them as SnapshotId.
using Cell = std::variant<std::monostate, bool, std::int64_t, ByteCount, TimestampMs, SnapshotId, std::string>;

class Listing {
 public:
  struct Options {
    bool json = false;
    std::size_t rows_max = 1000;
  };

  /// `columns`: member names of JSON; for people the underscores are blanks.
  Listing(Terminal& terminal, Options options, std::vector<std::string> columns);
  void AddRow(std::vector<Cell> cells);
  /// Writes what is left. Once.
  void Finish();

 private:
  void WriteJson(const std::vector<Cell>& cells);

  Terminal& terminal_;
  const Options options_;
  const std::vector<std::string> columns_;
  std::vector<std::vector<Cell>> rows_;
  std::int64_t row_count_ = 0;
};

}  // namespace firn::cli
