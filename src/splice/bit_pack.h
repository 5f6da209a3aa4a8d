// SPDX-License-Identifier: Apache-2.0
//
// Packs and unpacks integers of 0 to 32 bits, least significant bit first, as in the RLE/bit-packing hybrid.
//
// Guarantees: the portable and the AVX2 path give the same bits.
// Cost: 0.2 to 0.6 ns a value.
// Requires: UnpackBits may load 16 bytes from any byte of the packed data, also from its last one; PackBits may
//   store 8 bytes behind its output. RawBuffer's slack is there for that.
// Threads: pure.
// Source: Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::splice {

inline constexpr unsigned kBitWidthMax = 32;

/// Values `first` to `first + count` of the packed data at `from`.
void UnpackBits(const std::uint8_t* from, unsigned width, std::size_t first, std::size_t count, std::uint32_t* out);

/// Packs 8 * `groups` values below 2^width into groups * width bytes.
void PackBits(const std::uint32_t* values, std::size_t groups, unsigned width, std::uint8_t* out);

/// Bits needed for `value`: 0 for 0.
inline unsigned BitWidth(std::uint64_t value) {
  return value == 0 ? 0 : 64u - static_cast<unsigned>(__builtin_clzll(value));
}

/// The portable path, for the test that compares both.
void UnpackBitsPortable(const std::uint8_t* from, unsigned width, std::size_t first, std::size_t count,
                        std::uint32_t* out);

}  // namespace firn::splice
