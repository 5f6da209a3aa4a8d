// SPDX-License-Identifier: Apache-2.0
#include "act/equality_match_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace firn::act {
namespace {

constexpr std::size_t kSlotsMin = 64;
constexpr std::size_t kBlocksMax = (std::size_t{1} << 16) - 1;
constexpr std::size_t kFilterBits = 12;     // of a key, at least
constexpr std::size_t kFilterBytesMax = 3;  // of a key

/// Keys that may use so many slots.
constexpr std::size_t KeysOf(std::size_t slots) { return slots / 4 * 3; }

}  // namespace

KeyTable::KeyTable(const KeyLayout& layout, std::int64_t memory_bytes)
    : key_bytes_(layout.key_bytes()),
      memory_limit_(static_cast<std::size_t>(std::max<std::int64_t>(memory_bytes, 0))),
      is_number_(layout.is_number()) {}

std::size_t KeyTable::KeysThatFit(std::size_t text_bytes) const {
  const std::size_t key_bytes = kFilterBytesMax + (is_number_ ? 0 : key_bytes_ > 0 ? key_bytes_ : text_bytes);
  std::size_t slots = kSlotsMin;
  while (2 * slots * sizeof(Slot) + KeysOf(2 * slots) * key_bytes + kBlockBytes <= memory_limit_) slots *= 2;
  return KeysOf(slots);
}

void KeyTable::Begin(std::uint64_t first, std::uint64_t last, std::size_t expected) {
  first_ = first;
  last_ = last;
  std::size_t slots = kSlotsMin;
  while (KeysOf(slots) < expected && 2 * slots * sizeof(Slot) + kBlockBytes <= memory_limit_) slots *= 2;
  slots_ = {};  // before there are new ones
  slots_.resize(slots);
  used_ = 0;
  blocks_.clear();
  block_used_ = kBlockBytes;
  null_rank_ = 0;
  filter_.clear();
}

std::size_t KeyTable::memory_bytes() const {
  return slots_.size() * sizeof(Slot) + blocks_.size() * kBlockBytes + used_ * kFilterBytesMax;
}

std::size_t KeyTable::KeyRoom(ByteView key) const {
  if (is_number_) return 0;
  return key.size() + (key_bytes_ > 0 ? 0 : sizeof(std::uint32_t));
}

ByteView KeyTable::KeyAt(const std::uint8_t* at) const {
  if (key_bytes_ > 0) return {at, key_bytes_};
  return {at + sizeof(std::uint32_t), LoadLittle<std::uint32_t>(at)};
}

std::size_t KeyTable::Find(std::uint64_t hash, ByteView key) const {
  for (std::size_t index = Home(hash);; index = (index + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[index];
    if (slot.key == kEmpty) return index;
    if (slot.hash != hash) continue;
    if (is_number_) return index;
    const ByteView stored = KeyAt(PlaceAt(slot.key));
    if (stored.size() == key.size() && std::memcmp(stored.data(), key.data(), key.size()) == 0) return index;
  }
}

/// There is room. Keys that their hash stands for are not kept.
std::uint32_t KeyTable::Store(ByteView key) {
  if (is_number_) return 0;
  if (!HasBlockRoom(key)) {
    blocks_.push_back(std::make_unique_for_overwrite<std::uint8_t[]>(kBlockBytes));
    block_used_ = 0;
  }
  std::uint8_t* to = blocks_.back().get() + block_used_;
  const auto place = static_cast<std::uint32_t>((blocks_.size() - 1) << kBlockShift | block_used_);
  block_used_ += KeyRoom(key);
  if (key_bytes_ == 0) {
    StoreLittle(to, static_cast<std::uint32_t>(key.size()));
    to += sizeof(std::uint32_t);
  }
  std::memcpy(to, key.data(), key.size());
  return place;
}

void KeyTable::Place(const Slot& slot) {
  std::size_t index = Home(slot.hash);
  while (slots_[index].key != kEmpty) index = (index + 1) & (slots_.size() - 1);
  slots_[index] = slot;
}

void KeyTable::Grow() {
  std::vector<Slot> before(slots_.size() * 2);
  std::swap(before, slots_);
  for (const Slot& slot : before) {
    if (slot.key != kEmpty) Place(slot);
  }
}

/// Gives up the upper half of the hash range.
Status KeyTable::Narrow() {
  if (first_ == last_) return Error{Code::kLimit, "a key of an equality delete does not fit in memory"};
  last_ = first_ + (last_ - first_) / 2;
  std::vector<Slot> kept;
  for (const Slot& slot : slots_) {
    if (slot.key != kEmpty && InRange(slot.hash)) kept.push_back(slot);
  }
  // Keys are moved to the front in the order of their places, block by block.
  std::ranges::sort(kept, {}, &Slot::key);
  std::vector<std::unique_ptr<std::uint8_t[]>> before = std::move(blocks_);
  blocks_.clear();
  block_used_ = kBlockBytes;
  std::ranges::fill(slots_, Slot{});
  std::size_t block = 0;
  for (Slot& slot : kept) {
    if (!is_number_) {
      for (; block < slot.key >> kBlockShift; ++block) before[block].reset();
      slot.key = Store(KeyAt(before[block].get() + (slot.key & (kBlockBytes - 1))));
    }
    Place(slot);
  }
  used_ = kept.size();
  return Ok();
}

/// Until one more key fits; the range may then end before it.
Status KeyTable::MakeRoom(ByteView key) {
  if (KeyRoom(key) > kBlockBytes) {
    return Error{Code::kLimit, "a key of an equality delete has " + std::to_string(key.size()) + " bytes"};
  }
  while (true) {
    const bool is_full = used_ + 1 > KeysOf(slots_.size());
    const bool needs_block = !HasBlockRoom(key);
    // While it grows, the old slots are there, too.
    const std::size_t needed =
        memory_bytes() + (is_full ? 2 * slots_.size() * sizeof(Slot) : 0) + (needs_block ? kBlockBytes : 0);
    const bool fits = needed <= memory_limit_ && !(needs_block && blocks_.size() == kBlocksMax);
    if (fits || used_ == 0) {
      if (is_full) Grow();
      return Ok();
    }
    FIRN_TRY(Narrow());
  }
}

Status KeyTable::Insert(const KeyBatch& batch, std::uint32_t rank) {
  const std::span<const std::uint64_t> hashes = batch.hashes();
  for (std::size_t row = 0; row < std::min(kAhead, hashes.size()); ++row) FetchSlot(hashes[row]);
  for (std::size_t row = 0; row < hashes.size(); ++row) {
    if (row + kAhead < hashes.size()) FetchSlot(hashes[row + kAhead]);
    if (row + kAhead / 2 < hashes.size()) FetchKey(hashes[row + kAhead / 2]);
    const std::uint64_t hash = hashes[row];
    if (!InRange(hash)) continue;
    const ByteView key = batch.key(row);
    if (is_number_ && batch.IsNull(row)) {
      null_rank_ = std::max(null_rank_, rank);
      continue;
    }
    const std::size_t found = Find(hash, key);
    if (slots_[found].key != kEmpty) {
      slots_[found].rank = std::max(slots_[found].rank, rank);
      continue;
    }
    FIRN_TRY(MakeRoom(key));
    if (!InRange(hash)) continue;
    const std::size_t place = Find(hash, key);
    slots_[place] = {hash, Store(key), rank};
    ++used_;
  }
  return Ok();
}

void KeyTable::Seal() {
  filter_.assign(std::bit_ceil(used_ * kFilterBits / 64 + 1), 0);
  for (const Slot& slot : slots_) {
    if (slot.key != kEmpty) filter_[FilterWord(slot.hash)] |= FilterBits(slot.hash);
  }
}

/// The rows that the filter lets through.
void KeyTable::FindCandidates(const KeyBatch& batch, std::vector<std::uint32_t>& rows) const {
  const std::span<const std::uint64_t> hashes = batch.hashes();
  rows.resize(hashes.size());
  std::size_t count = 0;
  if (is_number_ && null_rank_ > 0) {  // the null key is not in the filter
    for (std::size_t row = 0; row < hashes.size(); ++row) {
      const std::uint64_t bits = FilterBits(hashes[row]);
      const bool may_match = (filter_[FilterWord(hashes[row])] & bits) == bits || batch.IsNull(row);
      rows[count] = static_cast<std::uint32_t>(row);
      count += may_match && InRange(hashes[row]) ? 1 : 0;
    }
  } else {
    for (std::size_t row = 0; row < hashes.size(); ++row) {
      const std::uint64_t bits = FilterBits(hashes[row]);
      const bool may_match = (filter_[FilterWord(hashes[row])] & bits) == bits;
      rows[count] = static_cast<std::uint32_t>(row);
      count += may_match && InRange(hashes[row]) ? 1 : 0;
    }
  }
  rows.resize(count);
}

}  // namespace firn::act
