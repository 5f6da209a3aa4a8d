// SPDX-License-Identifier: Apache-2.0
#include "act/equality_match_ranges.h"

#include <algorithm>
#include <optional>

namespace firn::act {
namespace {

using parquet::PhysicalType;

bool IsInteger(const parquet::SchemaElement& element) {
  return element.type == PhysicalType::kInt32 || element.type == PhysicalType::kInt64;
}

std::int64_t LoadInteger(const std::uint8_t* bytes, std::size_t width) {
  return width == 4 ? LoadLittle<std::int32_t>(bytes) : LoadLittle<std::int64_t>(bytes);
}

struct Bounds {
  std::int64_t lowest = 0, highest = 0;
};

std::optional<Bounds> BoundsOf(const parquet::Statistics& statistics, PhysicalType type) {
  const std::size_t width = type == PhysicalType::kInt32 ? 4 : 8;
  if (!statistics.min_value || !statistics.max_value || statistics.min_value->size() != width ||
      statistics.max_value->size() != width) {
    return std::nullopt;
  }
  const Bounds bounds{LoadInteger(statistics.min_value->data(), width),
                      LoadInteger(statistics.max_value->data(), width)};
  if (bounds.lowest > bounds.highest) return std::nullopt;
  return bounds;
}

}  // namespace

KeyRanges::KeyRanges(const KeyLayout& layout) {
  std::size_t place = 1;
  for (const KeyField& field : layout.fields()) {
    Range& range = ranges_.emplace_back();
    range.place = place;
    place += 1 + field.width;
    // In keys of varying size fields have no fixed place.
    range.width = layout.key_bytes() > 0 && IsInteger(field.element) ? field.width : 0;
  }
}

void KeyRanges::Clear() {
  for (Range& range : ranges_) {
    Range empty;
    empty.place = range.place;
    empty.width = range.width;
    range = empty;
  }
}

void KeyRanges::Add(const KeyBatch& batch) {
  for (Range& range : ranges_) {
    if (range.width == 0) continue;
    for (std::size_t row = 0; row < batch.rows(); ++row) {
      const std::uint8_t* const value = batch.key(row).data() + range.place;
      if (value[-1] == 0) {
        range.has_null = true;
        continue;
      }
      const std::int64_t number = LoadInteger(value, range.width);
      range.lowest = std::min(range.lowest, number);
      range.highest = std::max(range.highest, number);
    }
  }
}

bool KeyRanges::MayMatch(const splice::ScanFile& file, const KeySources& sources,
                         const parquet::RowGroup& group) const {
  const parquet::FileMetaData& footer = file.footer();
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const Range& range = ranges_[i];
    const KeySource& source = sources.columns[i];
    if (range.width == 0 || !source.is_same_integer) continue;
    const auto index = static_cast<std::size_t>(sources.leaves[*source.leaf].leaf);
    if (index >= footer.column_orders.size() || footer.column_orders[index] != parquet::ColumnOrder::kTypeDefined) {
      continue;
    }
    const auto& meta = group.columns[index].meta;
    if (!meta || !meta->statistics) continue;
    const std::optional<Bounds> bounds = BoundsOf(*meta->statistics, meta->type);
    if (!bounds) continue;
    const bool apart = bounds->highest < range.lowest || bounds->lowest > range.highest;
    if (apart && (!range.has_null || meta->statistics->null_count == 0)) return false;
  }
  return true;
}

}  // namespace firn::act
