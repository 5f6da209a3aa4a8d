// SPDX-License-Identifier: Apache-2.0
#include "splice/page_values.h"

#include <algorithm>

#include "splice/bit_pack.h"
#include "splice/dictionary_union.h"
#include "splice/index_kernels.h"

namespace firn::splice {

namespace {

constexpr std::size_t kSlice = 1024;
constexpr std::size_t kStepBytes = 256 << 10;
/// Entries up to this size are copied with one fixed-size copy.
constexpr std::size_t kShortCopyBytes = 32;
static_assert(kShortCopyBytes <= RawBuffer::kSlackBytes);

Error Corrupt(const char* what) { return {Code::kCorrupt, what}; }

template <class T>
void ExpandFixed(const std::uint8_t* entries, const std::uint32_t* indices, std::size_t count, std::uint8_t* out) {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(out + i * sizeof(T), entries + indices[i] * sizeof(T), sizeof(T));
  }
}

}  // namespace

bool IsPadding(ByteView rest) {
  return rest.size() <= 8 && std::ranges::all_of(rest, [](std::uint8_t byte) { return byte == 0; });
}

void PageValues::Reset(ValueMode mode, unsigned index_width) {
  mode_ = mode;
  plain_.Clear();
  if (mode == ValueMode::kPlain) plain_.Resize(kHeadroom);
  bit_count_ = 0;
  if (mode == ValueMode::kIndices) indices_.Reset(index_width);
}

std::size_t PageValues::SizeBytes() const {
  switch (mode_) {
    case ValueMode::kNone: return 0;
    case ValueMode::kIndices: return indices_.SizeBytes() + 1;
    case ValueMode::kPlain: return plain_.size() - kHeadroom;
    case ValueMode::kBits: return (bit_count_ + 7) / 8;
  }
  return 0;
}

ByteView PageValues::PutBefore(ByteView front) {
  std::copy(front.begin(), front.end(), plain_.data() + kHeadroom - front.size());
  return plain_.view().subspan(kHeadroom - front.size());
}

/// The low `count` bits of `bits`; the others are zero.
void PageValues::AppendWord(std::uint64_t bits, unsigned count) {
  const std::size_t bytes = (bit_count_ + count + 7) / 8 + 8;
  if (bytes > plain_.size()) plain_.Resize(bytes);
  std::uint8_t* to = plain_.data() + bit_count_ / 8;
  const unsigned shift = bit_count_ % 8;
  const std::uint64_t before = shift == 0 ? 0 : *to & ((1u << shift) - 1);
  StoreLittle(to, before | bits << shift);
  if (shift + count > 64) to[8] = static_cast<std::uint8_t>(bits >> (64 - shift));
  bit_count_ += count;
}

void PageValues::AppendBits(const std::uint8_t* from, std::size_t first, std::size_t count) {
  constexpr unsigned kChunk = 56;  // with an offset of up to 7 bits still inside one 64-bit load
  while (count > 0) {
    const auto take = static_cast<unsigned>(std::min<std::size_t>(count, kChunk));
    const std::uint64_t word = LoadLittle<std::uint64_t>(from + first / 8) >> (first % 8);
    AppendWord(word & ((std::uint64_t{1} << take) - 1), take);
    first += take;
    count -= take;
  }
}

void PageValues::AppendBitRun(bool bit, std::size_t count) {
  while (count > 0) {
    const auto take = static_cast<unsigned>(std::min<std::size_t>(count, 56));
    AppendWord(bit ? (std::uint64_t{1} << take) - 1 : 0, take);
    count -= take;
  }
}

Status EntryTable::Build(ByteView values, std::size_t entry_count, std::size_t fixed_width) {
  plain = values;
  count = entry_count;
  width = fixed_width;
  entry_bytes_max = fixed_width;
  if (fixed_width > 0) {
    return CheckEntriesSize(values.size(), entry_count, fixed_width);
  }
  FIRN_TRY(FindByteArrays(values, entry_count, offsets));
  std::uint32_t longest = 0;
  for (std::size_t i = 0; i < entry_count; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
  entry_bytes_max = longest;
  return Ok();
}

Status IndexFeed::OpenIndices(ByteView values) {
  taken_ = false;
  if (values.empty()) {
    reader_ = HybridReader();
    return Ok();  // pages of nulls
  }
  if (values[0] > kBitWidthMax) return Corrupt("index bit width above 32");
  reader_ = HybridReader(values.subspan(1), values[0]);
  return Ok();
}

Status IndexFeed::OpenRemap(ByteView values, const std::uint32_t* mapping, std::size_t count) {
  mapping_ = mapping;
  table_ = nullptr;
  count_ = count;
  return OpenIndices(values);
}

Status IndexFeed::OpenExpand(ByteView values, const EntryTable& table) {
  mapping_ = nullptr;
  table_ = &table;
  count_ = table.count;
  return OpenIndices(values);
}

std::size_t IndexFeed::StepMax() const {
  if (table_ == nullptr || table_->entry_bytes_max <= 8) return std::size_t{1} << 14;
  return std::clamp<std::size_t>(kStepBytes / table_->entry_bytes_max, 1, std::size_t{1} << 14);
}

void IndexFeed::ExpandByteArrays(const std::uint32_t* indices, std::size_t count, RawBuffer& out) const {
  const std::uint32_t* offsets = table_->offsets.data();
  std::size_t total = 0;
  for (std::size_t i = 0; i < count; ++i) total += offsets[indices[i] + 1] - offsets[indices[i]];
  std::uint8_t* to = out.Room(total);
  const std::uint8_t* entries = table_->plain.data();
  for (std::size_t i = 0; i < count;) {
    // Values that are written for the first time have indices in sequence: one copy for all of them.
    std::size_t end = i + 1;
    while (end < count && indices[end] == indices[end - 1] + 1) ++end;
    const std::uint32_t begin = offsets[indices[i]];
    const std::size_t size = offsets[indices[end - 1] + 1] - begin;
    if (size <= kShortCopyBytes) {
      std::memcpy(to, entries + begin, kShortCopyBytes);
    } else {
      std::memcpy(to, entries + begin, size);
    }
    to += size;
    i = end;
  }
  out.Advance(total);
}

void IndexFeed::Expand(const std::uint32_t* indices, std::size_t count, RawBuffer& out) const {
  const std::size_t width = table_->width;
  if (width == 0) return ExpandByteArrays(indices, count, out);
  const std::uint8_t* entries = table_->plain.data();
  std::uint8_t* to = out.Room(count * width);
  if (width == 4) {
    ExpandFixed<std::uint32_t>(entries, indices, count, to);
  } else if (width == 8) {
    ExpandFixed<std::uint64_t>(entries, indices, count, to);
  } else {
    for (std::size_t i = 0; i < count; ++i) std::memcpy(to + i * width, entries + indices[i] * width, width);
  }
  out.Advance(count * width);
}

Status IndexFeed::Take(std::size_t count, PageValues& out) {
  taken_ = taken_ || count > 0;
  std::uint32_t slice[kSlice];
  while (count > 0) {
    std::uint32_t value = 0;
    if (const std::size_t run = std::min(reader_.Repeated(value), count); run > 0 && table_ == nullptr) {
      if (value >= count_) return Corrupt("dictionary index beyond the dictionary");
      out.indices().AppendRun(mapping_ == nullptr ? value : mapping_[value], run);
      reader_.SkipRepeated(run);
      count -= run;
      continue;
    }
    const std::size_t take = std::min(count, kSlice);
    if (reader_.Read(slice, take) != take) return Corrupt("dictionary indices end early");
    if (MaxOf(slice, take) >= count_) return Corrupt("dictionary index beyond the dictionary");
    if (table_ != nullptr) {
      Expand(slice, take, out.plain());
    } else {
      if (mapping_ != nullptr) {
        MapInPlace(slice, take, mapping_);
      }
      out.indices().Append(slice, take);
    }
    count -= take;
  }
  return Ok();
}

void PlainFeed::OpenFixed(ByteView values, std::size_t width) {
  kind_ = Kind::kFixed;
  values_ = values;
  width_ = width;
  at_ = 0;
}

void PlainFeed::OpenByteArrays(ByteView values) {
  kind_ = Kind::kByteArrays;
  values_ = values;
  at_ = 0;
}

void PlainFeed::OpenBits(ByteView values) {
  kind_ = Kind::kBits;
  values_ = values;
  at_ = 0;
}

Status PlainFeed::OpenRleBits(ByteView values) {
  kind_ = Kind::kRleBits;
  reader_ = HybridReader();
  values_ = {};
  if (values.empty()) return Ok();
  if (values.size() < 4) return Corrupt("RLE booleans without a length");
  const std::uint32_t size = LoadLittle<std::uint32_t>(values.data());
  if (size > values.size() - 4) return Corrupt("RLE booleans are longer than their page");
  reader_ = HybridReader(values.subspan(4, size), 1);
  values_ = values.subspan(4 + size);
  return Ok();
}

Status PlainFeed::TakeByteArrays(std::size_t count, RawBuffer& out) {
  std::size_t end = at_;
  for (std::size_t i = 0; i < count; ++i) {
    if (values_.size() - end < 4) return Corrupt("byte arrays end early");
    const std::size_t length = LoadLittle<std::uint32_t>(values_.data() + end);
    end += 4;
    if (length > values_.size() - end) return Corrupt("a byte array is longer than its page");
    end += length;
  }
  out.Append(values_.subspan(at_, end - at_));
  at_ = end;
  return Ok();
}

Status PlainFeed::TakeRleBits(std::size_t count, PageValues& out) {
  std::uint32_t slice[kSlice];
  while (count > 0) {
    const std::size_t take = std::min(count, kSlice);
    if (reader_.Read(slice, take) != take) return Corrupt("RLE booleans end early");
    for (std::size_t i = 0; i < take; ++i) out.AppendBitRun((slice[i] & 1) != 0, 1);
    count -= take;
  }
  return Ok();
}

Status PlainFeed::Take(std::size_t count, PageValues& out) {
  if (count == 0) return Ok();
  switch (kind_) {
    case Kind::kFixed:
      if (count > (values_.size() - at_) / width_) return Corrupt("values end early");
      out.plain().Append(values_.subspan(at_, count * width_));
      at_ += count * width_;
      return Ok();
    case Kind::kByteArrays: return TakeByteArrays(count, out.plain());
    case Kind::kBits:
      if (count > values_.size() * 8 - at_) return Corrupt("booleans end early");
      out.AppendBits(values_.data(), at_, count);
      at_ += count;
      return Ok();
    case Kind::kRleBits: return TakeRleBits(count, out);
  }
  return Ok();
}

bool PlainFeed::AtEnd() const {
  switch (kind_) {
    case Kind::kFixed:
    case Kind::kByteArrays: return IsPadding(values_.subspan(at_));
    case Kind::kBits: return IsPadding(values_.subspan((at_ + 7) / 8));
    case Kind::kRleBits: return reader_.AtEnd() && IsPadding(values_);
  }
  return true;
}

}  // namespace firn::splice
