// SPDX-License-Identifier: Apache-2.0
#include "splice/dictionary_union.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <limits>

namespace firn::splice {

namespace {

using parquet::PhysicalType;

constexpr std::int64_t kDirectRangeMax = 1 << 20;
constexpr std::size_t kSlotsFirst = 1024;

std::uint64_t HashWord(std::uint64_t word) {
  word *= 0x9e3779b97f4a7c15ULL;
  return word ^ word >> 32;
}

}  // namespace

std::size_t FixedWidth(PhysicalType type, std::int32_t type_length) {
  switch (type) {
    case PhysicalType::kInt32:
    case PhysicalType::kFloat: return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble: return 8;
    case PhysicalType::kInt96: return 12;
    case PhysicalType::kFixedLenByteArray: return static_cast<std::size_t>(std::max(type_length, 0));
    default: return 0;
  }
}

Status FindByteArrays(ByteView plain, std::size_t count, std::vector<std::uint32_t>& offsets) {
  if (plain.size() > std::numeric_limits<std::uint32_t>::max()) return Error{Code::kLimit, "a page above 4 GiB"};
  if (count > plain.size() / 4) return Error{Code::kCorrupt, "too few bytes for the byte arrays"};
  offsets.resize(count + 1);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    offsets[i] = static_cast<std::uint32_t>(at);
    if (plain.size() - at < 4) return Error{Code::kCorrupt, "byte arrays end early"};
    const std::size_t length = LoadLittle<std::uint32_t>(plain.data() + at);
    at += 4;
    if (length > plain.size() - at) return Error{Code::kCorrupt, "a byte array is longer than its page"};
    at += length;
  }
  offsets[count] = static_cast<std::uint32_t>(at);
  if (at != plain.size()) return Error{Code::kCorrupt, "bytes behind the last byte array"};
  return Ok();
}

Status CheckEntriesSize(std::size_t size_bytes, std::size_t count, std::size_t width) {
  if (count > size_bytes / width) return Error{Code::kCorrupt, "too few bytes for the dictionary's entries"};
  if (count * width != size_bytes) return Error{Code::kCorrupt, "bytes behind the dictionary's last entry"};
  return Ok();
}

DictionaryUnion::DictionaryUnion(PhysicalType type, std::int32_t type_length)
    : width_(FixedWidth(type, type_length)), is_integer_(type == PhysicalType::kInt32 || type == PhysicalType::kInt64) {
  Reset();
}

void DictionaryUnion::Reset() {
  count_ = 0;
  values_.Clear();
  offsets_.clear();
  direct_.clear();
  slots_.assign(kSlotsFirst, Slot{});
}

void DictionaryUnion::ExpectRange(std::int64_t min, std::int64_t max) {
  if (!is_integer_ || count_ > 0 || min > max) return;
  // In unsigned arithmetic the difference of any two int64 is right.
  const std::uint64_t range = static_cast<std::uint64_t>(max) - static_cast<std::uint64_t>(min);
  if (range >= static_cast<std::uint64_t>(kDirectRangeMax)) return;
  direct_min_ = min;
  direct_.assign(static_cast<std::size_t>(range) + 1, 0);
}

ByteView DictionaryUnion::EntryAt(std::uint32_t entry) const {
  if (width_ > 0) return {values_.data() + entry * width_, width_};
  const std::uint8_t* at = values_.data() + offsets_[entry];
  return {at + 4, LoadLittle<std::uint32_t>(at)};
}

std::uint64_t DictionaryUnion::HashOf(ByteView value) const {
  if (width_ == 8) return HashWord(LoadLittle<std::uint64_t>(value.data()));
  if (width_ == 4) return HashWord(LoadLittle<std::uint32_t>(value.data()));
  return XXH3_64bits(value.data(), value.size());
}

/// A value outside of the expected range has come: the entries go into the hash table.
void DictionaryUnion::StopDirect() {
  direct_.clear();
  std::size_t size = kSlotsFirst;
  while (size < count_ * 2 + 2) size *= 2;
  slots_.assign(size, Slot{});
  for (std::uint32_t entry = 0; entry < count_; ++entry) {
    const auto hash = static_cast<std::uint32_t>(HashOf(EntryAt(entry)));
    std::size_t at = hash & (size - 1);
    while (slots_[at].entry != 0) at = (at + 1) & (size - 1);
    slots_[at] = {hash, entry + 1};
  }
}

void DictionaryUnion::GrowSlots() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.entry == 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].entry != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

std::uint32_t DictionaryUnion::AddHashed(std::uint64_t full_hash, ByteView value) {
  const auto hash = static_cast<std::uint32_t>(full_hash);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].entry != 0; at = (at + 1) & mask) {
    if (slots_[at].hash != hash) continue;
    const ByteView entry = EntryAt(slots_[at].entry - 1);
    if (entry.size() == value.size() && std::memcmp(entry.data(), value.data(), value.size()) == 0) {
      return slots_[at].entry - 1;
    }
  }
  const auto entry = static_cast<std::uint32_t>(count_++);
  slots_[at] = {hash, entry + 1};
  if (width_ == 0) {
    offsets_.push_back(static_cast<std::uint32_t>(values_.size()));
    StoreLittle(values_.Room(4), static_cast<std::uint32_t>(value.size()));
    values_.Advance(4);
  }
  values_.Append(value);
  if (count_ * 2 > slots_.size()) GrowSlots();
  return entry;
}

template <class T>
bool DictionaryUnion::AddDirect(const std::uint8_t* plain, std::size_t count, std::uint32_t* mapping,
                                std::size_t& done) {
  std::uint8_t* fresh = values_.Room((count - done) * sizeof(T));
  for (; done < count; ++done) {
    const T value = LoadLittle<T>(plain + done * sizeof(T));
    const std::uint64_t at = static_cast<std::uint64_t>(std::int64_t{value}) - static_cast<std::uint64_t>(direct_min_);
    if (at >= direct_.size()) break;
    std::uint32_t& entry = direct_[static_cast<std::size_t>(at)];
    if (entry == 0) {
      entry = static_cast<std::uint32_t>(++count_);
      StoreLittle(fresh, value);
      fresh += sizeof(T);
    }
    mapping[done] = entry - 1;
  }
  values_.Resize(count_ * sizeof(T));
  return done == count;
}

template <class T>
void DictionaryUnion::AddIntegers(const std::uint8_t* plain, std::size_t count, std::uint32_t* mapping) {
  std::size_t done = 0;
  if (!direct_.empty()) {
    if (AddDirect<T>(plain, count, mapping, done)) return;
    StopDirect();
  }
  for (; done < count; ++done) {
    const ByteView value(plain + done * sizeof(T), sizeof(T));
    mapping[done] = AddHashed(HashOf(value), value);
  }
}

Status DictionaryUnion::Add(ByteView plain, std::size_t count, std::vector<std::uint32_t>& mapping) {
  if (width_ > 0) {
    FIRN_TRY(CheckEntriesSize(plain.size(), count, width_));
    mapping.resize(count);
    if (is_integer_ && width_ == 4) {
      AddIntegers<std::int32_t>(plain.data(), count, mapping.data());
    } else if (is_integer_) {
      AddIntegers<std::int64_t>(plain.data(), count, mapping.data());
    } else {
      for (std::size_t i = 0; i < count; ++i) mapping[i] = AddValue(plain.subspan(i * width_, width_));
    }
    return Ok();
  }
  if (count > plain.size() / 4) return Error{Code::kCorrupt, "too few bytes for the dictionary's entries"};
  mapping.resize(count);
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (plain.size() - at < 4) return Error{Code::kCorrupt, "dictionary entries end early"};
    const std::size_t length = LoadLittle<std::uint32_t>(plain.data() + at);
    at += 4;
    if (length > plain.size() - at) return Error{Code::kCorrupt, "a dictionary entry is longer than its page"};
    mapping[i] = AddValue(plain.subspan(at, length));
    at += length;
  }
  if (at != plain.size()) return Error{Code::kCorrupt, "bytes behind the dictionary's last entry"};
  return Ok();
}

std::uint32_t DictionaryUnion::AddValue(ByteView value) {
  if (!direct_.empty()) {
    std::uint32_t entry = 0;
    if (width_ == 4) {
      AddIntegers<std::int32_t>(value.data(), 1, &entry);
    } else {
      AddIntegers<std::int64_t>(value.data(), 1, &entry);
    }
    return entry;
  }
  return AddHashed(HashOf(value), value);
}

}  // namespace firn::splice
