// SPDX-License-Identifier: Apache-2.0
#include "splice/plain_encode.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "splice/bit_pack.h"
#include "splice/dictionary_union.h"

namespace firn::splice {

namespace {

using parquet::Encoding;
using parquet::PhysicalType;

constexpr std::size_t kCopyBytes = 48;
constexpr std::size_t kBlock = 128, kMiniblocks = 4, kMiniblock = kBlock / kMiniblocks;

void PutVarint(std::uint64_t value, RawBuffer& out) {
  std::uint8_t* to = out.Room(10);
  std::size_t size = 0;
  for (; value >= 0x80; value >>= 7) to[size++] = static_cast<std::uint8_t>(value | 0x80);
  to[size++] = static_cast<std::uint8_t>(value);
  out.Advance(size);
}

void PutZigzag(std::int64_t value, RawBuffer& out) {
  const auto bits = static_cast<std::uint64_t>(value);
  PutVarint(bits << 1 ^ (0 - (bits >> 63)), out);
}

/// 32 values of `width` bits.
void PackMiniblock(const std::uint64_t* values, unsigned width, RawBuffer& out) {
  std::uint8_t* to = out.Room(kMiniblock / 8 * width);
  if (width <= kBitWidthMax) {
    std::uint32_t narrow[kMiniblock];
    for (std::size_t i = 0; i < kMiniblock; ++i) narrow[i] = static_cast<std::uint32_t>(values[i]);
    PackBits(narrow, kMiniblock / 8, width, to);
  } else {
    std::uint64_t word = 0;
    unsigned bits = 0;
    for (std::size_t i = 0; i < kMiniblock; ++i) {
      word |= values[i] << bits;
      if (bits + width >= 64) {
        StoreLittle(to, word);
        to += 8;
        word = bits == 0 || bits + width == 64 ? 0 : values[i] >> (64 - bits);
        bits = bits + width - 64;
      } else {
        bits += width;
      }
    }
    StoreLittle(to, word);
  }
  out.Advance(kMiniblock / 8 * width);
}

/// Integers of type T, read by `at(i)`, as DELTA_BINARY_PACKED. Differences wrap around in T.
template <class T, class At>
void PutDeltas(std::size_t count, const At& at, RawBuffer& out) {
  using Unsigned = std::make_unsigned_t<T>;
  PutVarint(kBlock, out);
  PutVarint(kMiniblocks, out);
  PutVarint(count, out);
  T last = count > 0 ? at(0) : T{0};
  PutZigzag(last, out);
  for (std::size_t begin = 1; begin < count; begin += kBlock) {
    const std::size_t size = std::min(kBlock, count - begin);
    T deltas[kBlock];
    T lowest = std::numeric_limits<T>::max();
    for (std::size_t i = 0; i < size; ++i) {
      const T value = at(begin + i);
      deltas[i] = static_cast<T>(static_cast<Unsigned>(value) - static_cast<Unsigned>(last));
      lowest = std::min(lowest, deltas[i]);
      last = value;
    }
    PutZigzag(lowest, out);
    std::uint64_t relative[kBlock] = {};
    std::uint8_t widths[kMiniblocks] = {};
    for (std::size_t i = 0; i < size; ++i) {
      relative[i] = static_cast<Unsigned>(static_cast<Unsigned>(deltas[i]) - static_cast<Unsigned>(lowest));
    }
    for (std::size_t m = 0; m < kMiniblocks; ++m) {
      std::uint64_t bits = 0;
      for (std::size_t i = 0; i < kMiniblock; ++i) bits |= relative[m * kMiniblock + i];
      widths[m] = static_cast<std::uint8_t>(BitWidth(bits));
    }
    out.Append(widths);
    for (std::size_t m = 0; m * kMiniblock < size; ++m) PackMiniblock(relative + m * kMiniblock, widths[m], out);
  }
}

template <class T>
void PutIntegers(ByteView plain, std::size_t count, RawBuffer& out) {
  PutDeltas<T>(count, [&](std::size_t i) { return LoadLittle<T>(plain.data() + i * sizeof(T)); }, out);
}

void PutLengths(const std::vector<std::int32_t>& lengths, RawBuffer& out) {
  PutDeltas<std::int32_t>(lengths.size(), [&](std::size_t i) { return lengths[i]; }, out);
}

Status PutDeltaLength(ByteView plain, std::size_t count, RawBuffer& out) {
  std::vector<std::uint32_t> offsets;
  FIRN_TRY(FindByteArrays(plain, count, offsets));
  PutDeltas<std::int32_t>(
      count, [&](std::size_t i) { return static_cast<std::int32_t>(offsets[i + 1] - offsets[i] - 4); }, out);
  std::uint8_t* const begin = out.Room(plain.size());
  std::uint8_t* to = begin;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t from = offsets[i] + 4, length = offsets[i + 1] - from;
    // A copy of a fixed size is no call. It ends inside of the room, whose used part is not longer than what was read.
    if (length <= kCopyBytes && from + kCopyBytes <= plain.size()) {
      std::memcpy(to, plain.data() + from, kCopyBytes);
    } else {
      std::memcpy(to, plain.data() + from, length);
    }
    to += length;
  }
  out.Advance(static_cast<std::size_t>(to - begin));
  return Ok();
}

/// Front coding of byte arrays, or of fixed-length values when `width` > 0.
Status PutDeltaStrings(ByteView plain, std::size_t count, std::size_t width, RawBuffer& out) {
  std::vector<std::uint32_t> offsets;
  if (width == 0) FIRN_TRY(FindByteArrays(plain, count, offsets));
  const auto value = [&](std::size_t i) {
    return width > 0 ? plain.subspan(i * width, width) : plain.subspan(offsets[i] + 4, offsets[i + 1] - offsets[i] - 4);
  };
  std::vector<std::int32_t> prefixes(count), suffixes(count);
  ByteView last;
  for (std::size_t i = 0; i < count; ++i) {
    const ByteView now = value(i);
    const auto differ = std::mismatch(last.begin(), last.end(), now.begin(), now.end());
    prefixes[i] = static_cast<std::int32_t>(differ.second - now.begin());
    suffixes[i] = static_cast<std::int32_t>(now.size()) - prefixes[i];
    last = now;
  }
  PutLengths(prefixes, out);
  PutLengths(suffixes, out);
  for (std::size_t i = 0; i < count; ++i) out.Append(value(i).subspan(static_cast<std::size_t>(prefixes[i])));
  return Ok();
}

void PutStreams(ByteView plain, std::size_t count, std::size_t width, RawBuffer& out) {
  std::uint8_t* to = out.Room(count * width);
  for (std::size_t byte = 0; byte < width; ++byte) {
    for (std::size_t i = 0; i < count; ++i) to[byte * count + i] = plain[i * width + byte];
  }
  out.Advance(count * width);
}

}  // namespace

bool CanEncode(Encoding encoding, PhysicalType type) {
  const bool integer = type == PhysicalType::kInt32 || type == PhysicalType::kInt64;
  switch (encoding) {
    case Encoding::kPlain: return true;
    case Encoding::kDeltaBinaryPacked: return integer;
    case Encoding::kDeltaLengthByteArray: return type == PhysicalType::kByteArray;
    case Encoding::kDeltaByteArray: return type == PhysicalType::kByteArray || type == PhysicalType::kFixedLenByteArray;
    case Encoding::kByteStreamSplit:
      return integer || type == PhysicalType::kFloat || type == PhysicalType::kDouble ||
             type == PhysicalType::kFixedLenByteArray;
    default: return false;
  }
}

Status EncodePlainAs(Encoding encoding, const OutputColumn& column, ByteView plain, std::size_t count, RawBuffer& out) {
  if (CanEncode(encoding, column.type)) {
    switch (encoding) {
      case Encoding::kPlain: out.Append(plain); return Ok();
      case Encoding::kDeltaBinaryPacked:
        column.width == 4 ? PutIntegers<std::int32_t>(plain, count, out) : PutIntegers<std::int64_t>(plain, count, out);
        return Ok();
      case Encoding::kDeltaLengthByteArray: return PutDeltaLength(plain, count, out);
      case Encoding::kDeltaByteArray: return PutDeltaStrings(plain, count, column.width, out);
      case Encoding::kByteStreamSplit: PutStreams(plain, count, column.width, out); return Ok();
      default: break;
    }
  }
  return Error{Code::kInternal, "no such encoding for the column's type"};
}

}  // namespace firn::splice
