// SPDX-License-Identifier: Apache-2.0
#include "act/offset_row_map.h"

#include <utility>

namespace firn::act {

OffsetRowMap::OffsetRowMap(std::uint32_t added, std::int64_t base, std::int64_t row_count,
                           std::shared_ptr<const roaring::PositionSet> deleted)
    : added_(added),
      base_(base),
      row_count_(row_count),
      deleted_(deleted == nullptr ? std::make_shared<const roaring::PositionSet>() : std::move(deleted)),
      ranks_(*deleted_) {}

std::optional<RowPlace> OffsetRowMap::Find(std::int64_t position) const {
  if (position < 0 || position >= row_count_ || deleted_->Contains(position)) return std::nullopt;
  return RowPlace{added_, base_ + position - ranks_.CountBefore(position)};
}

}  // namespace firn::act
