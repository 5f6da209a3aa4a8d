// SPDX-License-Identifier: Apache-2.0
#include "format/avro/cursor.h"

#include <bit>

namespace firn::avro {
namespace {

constexpr std::uint64_t kTopBits = 0x8080808080808080ULL;

/// Number of set bits in a word that has bits only at the top of its bytes.
int CountTopBits(std::uint64_t word) { return static_cast<int>(((word >> 7) * 0x0101010101010101ULL) >> 56); }

}  // namespace

std::int64_t Cursor::ReadLongSlow() {
  std::uint64_t raw = 0;
  const std::uint8_t* at = at_;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == end_) {
      Fail("ends inside an integer");
      return 0;
    }
    const std::uint64_t byte = *at++;
    if (shift == 63 && byte > 1) break;
    raw |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      at_ = at;
      return ZigZag(raw);
    }
  }
  Fail("integer does not fit in 64 bits");
  return 0;
}

void Cursor::SkipLongs(std::uint64_t count) {
  // A varint ends with the one byte of it whose top bit is clear: count those, whole words first.
  while (count > 0 && left() >= 8) {
    std::uint64_t ends = ~LoadLittle<std::uint64_t>(at_) & kTopBits;
    const std::uint64_t found = static_cast<std::uint64_t>(CountTopBits(ends));
    if (found < count) {
      count -= found;
      at_ += 8;
      continue;
    }
    for (; count > 1; --count) ends &= ends - 1;
    at_ += std::countr_zero(ends) / 8 + 1;
    return;
  }
  while (count > 0) {
    if (at_ == end_) {
      Fail("ends inside a run of integers");
      return;
    }
    if (*at_++ < 0x80) --count;
  }
}

Cursor::ItemBlock Cursor::ReadItemBlock(std::uint64_t item_size_min) {
  const std::int64_t count = ReadLong();
  ItemBlock block;
  if (count < 0) {
    const std::int64_t size = ReadLong();
    if (size < 0 || static_cast<std::uint64_t>(size) > left()) {
      Fail("run of items is longer than its block");
      return {};
    }
    block.size_bytes = static_cast<std::uint64_t>(size);
  }
  block.count = count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
  if (item_size_min > 0 && block.count > left() / item_size_min) {
    Fail("run has more items than bytes");
    return {};
  }
  return block;
}

}  // namespace firn::avro
