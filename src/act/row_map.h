// SPDX-License-Identifier: Apache-2.0
//
// Where the rows of a replaced data file are in the files that replace it.
//
// In: how a rewrite laid out its rows. Out: the place of a row by its position in the replaced file.
// Guarantees: a row has one place, or none because it was deleted on the way; two rows never share a place. Positions
//   are ordinals in the whole replaced file, those of deleted rows counted.
// Threads: immutable.
// Source: Iceberg table spec, "Position Delete Files"; docs/decisions/0003.
#pragma once

#include <cstdint>
#include <optional>

namespace firn::roaring {
class PositionSet;
}

namespace firn::act {

struct RowPlace {
  std::uint32_t added = 0;  // index into RewriteGroup::added
  std::int64_t row = 0;     // position in that file
  friend auto operator<=>(const RowPlace&, const RowPlace&) = default;
};

class RowMap {
 public:
  virtual ~RowMap() = default;
  /// Absent: the row was deleted on the way, or the file has no such row.
  virtual std::optional<RowPlace> Find(std::int64_t position) const = 0;
  /// Positions of the rows that were deleted on the way, by deletes of all kinds.
  virtual const roaring::PositionSet& deleted() const = 0;
};

}  // namespace firn::act
