// SPDX-License-Identifier: Apache-2.0
//
// The row map of a merge that keeps the order of rows.
//
// In: where the rows of a file begin in the merged file, and which of them were deleted on the way. Out: a RowMap.
// Guarantees: those of RowMap; the order of rows is kept.
// Cost: O(log n) a row; memory of the deleted positions, which may be shared, and 8 bytes for 65,536 of them.
// Threads: immutable.
// Source: splice::Report::input_row_bases.
#pragma once

#include <memory>

#include "act/row_map.h"
#include "format/roaring/position_set.h"

namespace firn::act {

/// The rows that stay lie in one added file, one after the other and in their old order.
class OffsetRowMap final : public RowMap {
 public:
  /// `base`: row of the first one that stays. `row_count`: of the replaced file, deleted rows counted. `deleted` null:
  /// no row was.
  OffsetRowMap(std::uint32_t added, std::int64_t base, std::int64_t row_count,
               std::shared_ptr<const roaring::PositionSet> deleted);
  std::optional<RowPlace> Find(std::int64_t position) const override;
  const roaring::PositionSet& deleted() const override { return *deleted_; }

 private:
  std::uint32_t added_;
  std::int64_t base_, row_count_;
  std::shared_ptr<const roaring::PositionSet> deleted_;
  roaring::PositionRanks ranks_;
};

}  // namespace firn::act
