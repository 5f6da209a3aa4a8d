// SPDX-License-Identifier: Apache-2.0
//
// The loops over dictionary indices that every value of a dictionary-encoded column goes through.
//
// Guarantees: the portable and the AVX2 path give the same result.
// Cost: 0.3 to 1 ns a value. Threads: pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/bytes.h"

namespace firn::splice {

std::uint32_t MaxOf(const std::uint32_t* values, std::size_t count);
std::uint32_t MaxOfPortable(const std::uint32_t* values, std::size_t count);

/// Every index is below the size of `mapping`.
inline void MapInPlace(std::uint32_t* indices, std::size_t count, const std::uint32_t* mapping) {
  std::size_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const std::uint32_t a = mapping[indices[i]], b = mapping[indices[i + 1]];
    const std::uint32_t c = mapping[indices[i + 2]], d = mapping[indices[i + 3]];
    indices[i] = a, indices[i + 1] = b, indices[i + 2] = c, indices[i + 3] = d;
  }
  for (; i < count; ++i) indices[i] = mapping[indices[i]];
}

/// Eight values that are all the same.
inline bool AllEqual(const std::uint32_t* group) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(group);
  const auto a = LoadLittle<std::uint64_t>(bytes), b = LoadLittle<std::uint64_t>(bytes + 8);
  const auto c = LoadLittle<std::uint64_t>(bytes + 16), d = LoadLittle<std::uint64_t>(bytes + 24);
  return ((a ^ b) | (a ^ c) | (a ^ d) | (a ^ (a >> 32 | a << 32))) == 0;
}

}  // namespace firn::splice
