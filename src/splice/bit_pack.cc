// SPDX-License-Identifier: Apache-2.0
#include "splice/bit_pack.h"

#include <array>
#include <cstring>
#include <utility>

#include "base/bytes.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace firn::splice {

namespace {

template <unsigned W>
constexpr std::uint64_t kMask = (std::uint64_t{1} << W) - 1;

using UnpackGroups = void (*)(const std::uint8_t*, std::size_t, std::uint32_t*);
using PackGroups = void (*)(const std::uint32_t*, std::size_t, std::uint8_t*);

template <unsigned W, std::size_t... I>
inline void UnpackGroup(const std::uint8_t* from, std::uint32_t* out, std::index_sequence<I...>) {
  ((out[I] = static_cast<std::uint32_t>((LoadLittle<std::uint64_t>(from + I * W / 8) >> (I * W % 8)) & kMask<W>)), ...);
}

template <unsigned W>
void UnpackPortable(const std::uint8_t* from, std::size_t groups, std::uint32_t* out) {
  for (; groups > 0; --groups, from += W, out += 8) UnpackGroup<W>(from, out, std::make_index_sequence<8>());
}

template <>
void UnpackPortable<0>(const std::uint8_t*, std::size_t groups, std::uint32_t* out) {
  std::memset(out, 0, groups * 8 * sizeof *out);
}

/// Value I of a group adds its bits to a 64-bit word, and stores the word when it is full.
template <unsigned W, std::size_t I>
inline void PackOne(const std::uint32_t* values, std::uint64_t& word, std::uint8_t* out) {
  constexpr unsigned kBit = I * W;
  const std::uint64_t value = values[I];
  word |= value << (kBit % 64);
  if constexpr (kBit % 64 + W >= 64 || I == 7) {
    StoreLittle(out + kBit / 64 * 8, word);
    if constexpr (kBit % 64 + W > 64) {
      word = value >> (64 - kBit % 64);
      if constexpr (I == 7) StoreLittle(out + kBit / 64 * 8 + 8, word);
    } else {
      word = 0;
    }
  }
}

template <unsigned W, std::size_t... I>
inline void PackGroup(const std::uint32_t* values, std::uint8_t* out, std::index_sequence<I...>) {
  std::uint64_t word = 0;
  (PackOne<W, I>(values, word, out), ...);
}

template <unsigned W>
void Pack(const std::uint32_t* values, std::size_t groups, std::uint8_t* out) {
  for (; groups > 0; --groups, values += 8, out += W) PackGroup<W>(values, out, std::make_index_sequence<8>());
}

template <>
void Pack<0>(const std::uint32_t*, std::size_t, std::uint8_t*) {}

#if defined(__x86_64__)
/// Which byte each byte of a 32-bit lane comes from, for four values of W bits (W <= 25) from bit `FirstBit`.
template <unsigned W, unsigned FirstBit>
__attribute__((target("avx2"))) inline __m128i LaneBytes() {
  constexpr auto at = [](unsigned lane, unsigned byte) {
    return static_cast<char>((FirstBit % 8 + lane * W) / 8 + byte);
  };
  return _mm_setr_epi8(at(0, 0), at(0, 1), at(0, 2), at(0, 3), at(1, 0), at(1, 1), at(1, 2), at(1, 3), at(2, 0),
                       at(2, 1), at(2, 2), at(2, 3), at(3, 0), at(3, 1), at(3, 2), at(3, 3));
}

/// Eight values a step: one shuffle brings the bytes of each value into its lane, one shift aligns it.
template <unsigned W>
__attribute__((target("avx2"))) void UnpackAvx2(const std::uint8_t* from, std::size_t groups, std::uint32_t* out) {
  constexpr unsigned kHalf = 4 * W;  // first bit of the upper four values
  const __m256i bytes = _mm256_set_m128i(LaneBytes<W, kHalf>(), LaneBytes<W, 0>());
  constexpr auto shift = [](unsigned i) { return static_cast<int>(i * W % 8); };
  const __m256i shifts =
      _mm256_setr_epi32(shift(0), shift(1), shift(2), shift(3), shift(4), shift(5), shift(6), shift(7));
  const __m256i mask = _mm256_set1_epi32(static_cast<int>(kMask<W>));
  for (; groups > 0; --groups, from += W, out += 8) {
    const __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    const __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + kHalf / 8));
    const __m256i lanes = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), bytes);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_and_si256(_mm256_srlv_epi32(lanes, shifts), mask));
  }
}

template <unsigned W>
constexpr UnpackGroups Avx2Of() {
  if constexpr (W >= 1 && W <= 25) {
    return UnpackAvx2<W>;
  } else {
    return UnpackPortable<W>;
  }
}
#else
template <unsigned W>
constexpr UnpackGroups Avx2Of() {
  return UnpackPortable<W>;
}
#endif

using UnpackTable = std::array<UnpackGroups, kBitWidthMax + 1>;

template <std::size_t... W>
constexpr UnpackTable PortableTable(std::index_sequence<W...>) {
  return {UnpackPortable<W>...};
}
template <std::size_t... W>
constexpr UnpackTable Avx2Table(std::index_sequence<W...>) {
  return {Avx2Of<W>()...};
}
template <std::size_t... W>
constexpr std::array<PackGroups, kBitWidthMax + 1> PackTable(std::index_sequence<W...>) {
  return {Pack<W>...};
}

constexpr auto kWidths = std::make_index_sequence<kBitWidthMax + 1>();
constexpr UnpackTable kUnpackPortable = PortableTable(kWidths);
constexpr UnpackTable kUnpackAvx2 = Avx2Table(kWidths);
constexpr std::array<PackGroups, kBitWidthMax + 1> kPack = PackTable(kWidths);

const UnpackTable& ChosenTable() {
#if defined(__x86_64__)
  static const UnpackTable& table = __builtin_cpu_supports("avx2") ? kUnpackAvx2 : kUnpackPortable;
  return table;
#else
  return kUnpackPortable;
#endif
}

void UnpackWith(const UnpackTable& table, const std::uint8_t* from, unsigned width, std::size_t first,
                std::size_t count, std::uint32_t* out) {
  const UnpackGroups unpack = table[width];
  from += first / 8 * width;
  std::uint32_t group[8];
  if (const std::size_t skip = first % 8; skip != 0 && count > 0) {
    unpack(from, 1, group);
    const std::size_t take = count < 8 - skip ? count : 8 - skip;
    std::memcpy(out, group + skip, take * sizeof *out);
    from += width, out += take, count -= take;
  }
  unpack(from, count / 8, out);
  if (const std::size_t rest = count % 8; rest != 0) {
    unpack(from + count / 8 * width, 1, group);
    std::memcpy(out + (count - rest), group, rest * sizeof *out);
  }
}

}  // namespace

void UnpackBits(const std::uint8_t* from, unsigned width, std::size_t first, std::size_t count, std::uint32_t* out) {
  UnpackWith(ChosenTable(), from, width, first, count, out);
}

void UnpackBitsPortable(const std::uint8_t* from, unsigned width, std::size_t first, std::size_t count,
                        std::uint32_t* out) {
  UnpackWith(kUnpackPortable, from, width, first, count, out);
}

void PackBits(const std::uint32_t* values, std::size_t groups, unsigned width, std::uint8_t* out) {
  kPack[width](values, groups, out);
}

}  // namespace firn::splice
