// SPDX-License-Identifier: Apache-2.0
// Decodes the input as a set of positions; what is accepted must survive a round trip and agree with itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "format/roaring/position_set.h"

using firn::roaring::PositionRange;
using firn::roaring::PositionSet;

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto set = PositionSet::Decode({data, size});
  if (!set) return 0;
  Require(set->memory_bytes() <= 10 * size + sizeof *set + 64);
  const auto again = PositionSet::Decode(set->Encode());
  Require(again.has_value() && *again == *set);
  PositionSet copy;
  std::int64_t counted = 0;
  firn::roaring::RangeCursor cursor(*set, {0, INT64_MAX});
  int steps = 0;
  for (PositionRange range; cursor.Next(range) && ++steps < 1000;) {
    Require(set->CountBefore(range.begin) == counted);
    counted += range.size();
    Require(set->CountBefore(range.end) == counted);
    if (range.size() < 1 << 20) copy.AddRange(range);
  }
  copy.Union(*set);
  Require(copy == *set);
  return 0;
}
