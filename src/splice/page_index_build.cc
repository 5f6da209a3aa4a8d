// SPDX-License-Identifier: Apache-2.0
#include "splice/page_index_build.h"

#include <algorithm>

namespace firn::splice {

namespace {

constexpr std::size_t kBoundBytesMax = 64;

/// Both lists ascend, or both descend, over the pages that have values. Equal ones do either.
parquet::BoundaryOrder OrderOfPages(ValueOrder order, const parquet::ColumnIndex& index) {
  bool ascending = true, descending = true;
  const Bytes* min = nullptr;
  const Bytes* max = nullptr;
  for (std::size_t i = 0; i < index.null_pages.size(); ++i) {
    if (index.null_pages[i]) continue;
    if (min != nullptr) {
      const int low = CompareValues(order, *min, index.min_values[i]);
      const int high = CompareValues(order, *max, index.max_values[i]);
      ascending = ascending && low <= 0 && high <= 0;
      descending = descending && low >= 0 && high >= 0;
    }
    min = &index.min_values[i];
    max = &index.max_values[i];
  }
  if (ascending) return parquet::BoundaryOrder::kAscending;
  return descending ? parquet::BoundaryOrder::kDescending : parquet::BoundaryOrder::kUnordered;
}

}  // namespace

std::optional<parquet::ColumnIndex> BuildColumnIndex(const OutputColumn& column, const std::vector<PageFacts>& pages) {
  if (column.order == ValueOrder::kNone || pages.empty()) return std::nullopt;
  parquet::ColumnIndex index;
  for (const PageFacts& page : pages) {
    if (!page.nulls) return std::nullopt;
    const bool has_values = *page.nulls < page.values;
    if (has_values && !(page.bounds.any() && page.bounds.known())) return std::nullopt;
    index.null_pages.push_back(!has_values);
    index.null_counts.push_back(*page.nulls);
    index.min_values.push_back(has_values ? page.bounds.min() : Bytes());
    index.max_values.push_back(has_values ? page.bounds.max() : Bytes());
    ShortenBound(column.element, column.order, true, kBoundBytesMax, index.min_values.back());
    ShortenBound(column.element, column.order, false, kBoundBytesMax, index.max_values.back());
  }
  index.boundary_order = OrderOfPages(column.order, index);
  return index;
}

}  // namespace firn::splice
