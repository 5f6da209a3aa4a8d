// SPDX-License-Identifier: Apache-2.0
#include "splice/bit_packed_levels.h"

#include <algorithm>
#include <cstdint>

#include "splice/hybrid.h"

namespace firn::splice {

Result<Bytes> LevelsAsRuns(ByteView& body, std::size_t count, unsigned width) {
  constexpr std::size_t kSlice = 1024;
  const std::size_t size = (count * width + 7) / 8;
  if (size > body.size()) return Error{Code::kCorrupt, "levels are longer than their page"};
  HybridWriter writer;
  writer.Reset(width);
  std::uint32_t levels[kSlice];
  std::uint32_t bits = 0;
  unsigned held = 0;
  std::size_t byte = 0;
  for (std::size_t done = 0; done < count;) {
    const std::size_t step = std::min(count - done, kSlice);
    for (std::size_t i = 0; i < step; ++i) {
      for (; held < width; held += 8) bits = bits << 8 | body[byte++];
      held -= width;
      levels[i] = bits >> held & ((1U << width) - 1);
    }
    writer.Append(levels, step);
    done += step;
  }
  body = body.subspan(size);
  const ByteView runs = writer.Finish();
  Bytes out(sizeof(std::uint32_t));
  StoreLittle(out.data(), static_cast<std::uint32_t>(runs.size()));
  out.insert(out.end(), runs.begin(), runs.end());
  return out;
}

}  // namespace firn::splice
