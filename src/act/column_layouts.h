// SPDX-License-Identifier: Apache-2.0
//
// Remembers where the columns of each input of a merge came from; inputs mostly have it in common.
//
// In: the columns of inputs, in the order of their indexes. Out: the same again, by index.
// Guarantees: what is kept is bounded: beyond the limit, the columns of an input are not known.
// Cost: 4 bytes an input, and each different list once. Threads: one owner.
#pragma once

#include <cstdint>
#include <vector>

#include "splice/splice.h"

namespace firn::act {

class ColumnLayouts {
 public:
  using Columns = std::vector<splice::ColumnSource>;

  explicit ColumnLayouts(std::size_t input_count) : layout_of_(input_count, kUnused) {}

  void Set(std::size_t input, const Columns& columns);
  bool is_used(std::size_t input) const { return layout_of_[input] != kUnused; }
  /// Null: not known.
  const Columns* Find(std::size_t input) const;

 private:
  static constexpr std::uint32_t kUnused = 0xffffffff, kUnknown = 0xfffffffe;
  std::vector<std::uint32_t> layout_of_;
  std::vector<Columns> layouts_;
  std::size_t bytes_ = 0;
};

}  // namespace firn::act
