// SPDX-License-Identifier: Apache-2.0
#include "splice/delta_read.h"

#include <algorithm>

#include "splice/bit_pack.h"

namespace firn::splice {

namespace {

constexpr std::uint64_t kBlockValuesMax = 1 << 24;
constexpr unsigned kWidthMax = 64;

Error Corrupt(const char* what) { return {Code::kCorrupt, what}; }

std::uint64_t FromZigzag(std::uint64_t value) { return value >> 1 ^ (0 - (value & 1)); }

/// 32 values of `width` bits; 16 bytes behind them are readable.
void UnpackGroup(const std::uint8_t* from, unsigned width, std::uint64_t* out) {
  if (width <= kBitWidthMax) {
    std::uint32_t narrow[32];
    UnpackBits(from, width, 0, 32, narrow);
    std::copy(narrow, narrow + 32, out);
    return;
  }
  const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned bit = i * width, shift = bit % 8;
    std::uint64_t value = LoadLittle<std::uint64_t>(from + bit / 8) >> shift;
    if (shift != 0) value |= std::uint64_t{from[bit / 8 + 8]} << (64 - shift);
    out[i] = value & mask;
  }
}

}  // namespace

bool DeltaReader::Varint(std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
    const std::uint8_t byte = *at_++;
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

Status DeltaReader::Open(ByteView bytes) {
  at_ = bytes.data();
  end_ = bytes.data() + bytes.size();
  produced_ = 0;
  group_at_ = kGroup;
  std::uint64_t block = 0, miniblocks = 0, first = 0;
  if (!Varint(block) || !Varint(miniblocks) || !Varint(count_) || !Varint(first)) {
    return Corrupt("delta header ends early");
  }
  if (block == 0 || block > kBlockValuesMax || miniblocks == 0 || block % miniblocks != 0 ||
      block / miniblocks % kGroup != 0) {
    return Corrupt("impossible delta block size");
  }
  miniblocks_ = static_cast<std::size_t>(miniblocks);
  miniblock_values_ = static_cast<std::size_t>(block / miniblocks);
  miniblock_ = miniblocks_;
  last_ = FromZigzag(first);
  return Ok();
}

Status DeltaReader::OpenBlock() {
  std::uint64_t delta = 0;
  if (!Varint(delta) || Available() < miniblocks_) return Corrupt("delta block ends early");
  min_delta_ = FromZigzag(delta);
  widths_ = at_;
  at_ += miniblocks_;
  miniblock_ = in_miniblock_ = 0;
  return Ok();
}

/// The next 32 deltas, added up.
Status DeltaReader::LoadGroup() {
  if (miniblock_ == miniblocks_) FIRN_TRY(OpenBlock());
  const unsigned width = widths_[miniblock_];
  if (width > kWidthMax) return Corrupt("delta bit width above 64");
  const std::size_t size = kGroup / 8 * width;
  // The last miniblock is padded, however few values are left for it: readers refuse a page where it is not.
  if (in_miniblock_ == 0 && Available() < miniblock_values_ / 8 * width) return Corrupt("delta miniblock ends early");
  std::uint64_t deltas[kGroup];
  UnpackGroup(at_, width, deltas);
  at_ += size;
  for (std::size_t i = 0; i < kGroup; ++i) {
    last_ += deltas[i] + min_delta_;
    group_[i] = static_cast<std::int64_t>(last_);
  }
  group_at_ = 0;
  in_miniblock_ += kGroup;
  if (in_miniblock_ == miniblock_values_) {
    in_miniblock_ = 0;
    ++miniblock_;
  }
  return Ok();
}

Status DeltaReader::Read(std::int64_t* out, std::size_t count) {
  if (count > count_ - produced_) return Corrupt("delta values end early");
  std::size_t done = 0;
  if (produced_ == 0 && count > 0) {
    out[done++] = static_cast<std::int64_t>(last_);
    ++produced_;
  }
  while (done < count) {
    if (group_at_ == kGroup) FIRN_TRY(LoadGroup());
    const std::size_t take = std::min(count - done, kGroup - group_at_);
    std::copy_n(group_ + group_at_, take, out + done);
    group_at_ += take;
    done += take;
    produced_ += take;
  }
  return Ok();
}

Result<std::size_t> DeltaReader::SizeOf(ByteView bytes) {
  DeltaReader reader;
  FIRN_TRY(reader.Open(bytes));
  std::uint64_t left = reader.count_ > 0 ? reader.count_ - 1 : 0;
  while (left > 0) {
    FIRN_TRY(reader.OpenBlock());
    for (std::size_t i = 0; i < reader.miniblocks_ && left > 0; ++i) {
      const std::size_t width = reader.widths_[i];
      if (width > kWidthMax) return Corrupt("delta bit width above 64");
      const std::size_t size = reader.miniblock_values_ / 8 * width;
      if (reader.Available() < size) return Corrupt("delta miniblock ends early");
      reader.at_ += size;
      left -= std::min<std::uint64_t>(left, reader.miniblock_values_);
    }
  }
  return static_cast<std::size_t>(reader.at_ - bytes.data());
}

}  // namespace firn::splice
