// SPDX-License-Identifier: Apache-2.0
#include "act/column_layouts.h"

#include <algorithm>
#include <utility>

namespace firn::act {
namespace {

constexpr std::size_t kBytesMax = 4 << 20;
/// Tables evolve by a few steps; a search for each input among many lists would take long.
constexpr std::size_t kLayoutsMax = 256;

bool SameSource(const splice::ColumnSource& a, const splice::ColumnSource& b) {
  return a.kind == b.kind && a.leaf == b.leaf && a.constant == b.constant;
}

std::size_t BytesOf(const ColumnLayouts::Columns& columns) {
  std::size_t bytes = columns.size() * sizeof(splice::ColumnSource);
  for (const splice::ColumnSource& column : columns) bytes += column.constant ? column.constant->size() : 0;
  return bytes;
}

}  // namespace

void ColumnLayouts::Set(std::size_t input, const Columns& columns) {
  // The newest first: it is mostly the one.
  for (std::size_t i = layouts_.size(); i-- > 0;) {
    if (!std::ranges::equal(layouts_[i], columns, SameSource)) continue;
    layout_of_[input] = static_cast<std::uint32_t>(i);
    return;
  }
  bytes_ += BytesOf(columns);
  if (layouts_.size() == kLayoutsMax || bytes_ > kBytesMax) {
    layout_of_[input] = kUnknown;
    return;
  }
  layout_of_[input] = static_cast<std::uint32_t>(layouts_.size());
  layouts_.push_back(columns);
}

const ColumnLayouts::Columns* ColumnLayouts::Find(std::size_t input) const {
  const std::uint32_t layout = layout_of_[input];
  return layout < layouts_.size() ? &layouts_[layout] : nullptr;
}

}  // namespace firn::act
