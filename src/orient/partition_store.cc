// SPDX-License-Identifier: Apache-2.0
#include "orient/partition_store.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "base/check.h"

namespace firn::orient {
namespace {

constexpr std::size_t kFirstSlots = 4, kFirstPlaces = 8;
constexpr std::size_t kKeyChunkMin = 64, kKeyChunkMax = std::size_t{64} << 10;
// Five sixths full at most: two partitions in three places on average.
constexpr std::size_t kLoadOf6 = 5;

}  // namespace

std::string_view PartitionStore::key(std::uint32_t index) const {
  const char* stored = SlotOf(index).key;
  std::uint32_t size = 0;
  std::memcpy(&size, stored, sizeof size);
  return {stored + sizeof size, size};
}

/// Where the key is, or the free place where it belongs.
std::size_t PartitionStore::PlaceOf(std::string_view key_text) const {
  const std::size_t mask = index_.size() - 1;
  std::size_t place = std::hash<std::string_view>()(key_text) & mask;
  while (index_[place] != 0 && key(index_[place] - 1) != key_text) place = (place + 1) & mask;
  return place;
}

std::optional<std::uint32_t> PartitionStore::Find(std::string_view key) const {
  if (index_.empty()) return std::nullopt;
  const std::uint32_t found = index_[PlaceOf(key)];
  return found == 0 ? std::nullopt : std::optional(found - 1);
}

void PartitionStore::Rehash(std::size_t places) {
  index_ = {};  // the old one first: both together would be the peak
  index_.resize(places);
  for (std::uint32_t i = 0; i < size_; ++i) index_[PlaceOf(key(i))] = i + 1;
}

/// Room for one more slot. The first chunk grows, so that a table of few partitions is small.
void PartitionStore::Reserve() {
  if (size_ < capacity_) return;
  if (capacity_ >= kChunkSlots || capacity_ == 0) {
    const std::size_t slots = capacity_ == 0 ? kFirstSlots : kChunkSlots;
    chunks_.push_back(std::make_unique<Slot[]>(slots));
    capacity_ += slots;
    return;
  }
  auto larger = std::make_unique<Slot[]>(capacity_ * 2);
  std::copy_n(chunks_[0].get(), capacity_, larger.get());
  chunks_[0] = std::move(larger);
  capacity_ *= 2;
}

const char* PartitionStore::Store(std::string_view key) {
  const auto size = static_cast<std::uint32_t>(key.size());
  const std::size_t wanted = sizeof size + key.size();
  if (wanted > key_left_) {
    const std::size_t chunk = std::max(wanted, std::clamp(key_bytes_, kKeyChunkMin, kKeyChunkMax));
    key_chunks_.push_back(std::make_unique_for_overwrite<char[]>(chunk));
    key_next_ = key_chunks_.back().get();
    key_left_ = chunk;
  }
  char* stored = key_next_;
  std::memcpy(stored, &size, sizeof size);
  std::memcpy(stored + sizeof size, key.data(), key.size());
  key_next_ += wanted;
  key_left_ -= wanted;
  key_bytes_ += wanted;
  return stored;
}

PartitionStore::Inserted PartitionStore::Insert(std::string_view key) {
  if (index_.empty()) index_.resize(kFirstPlaces);
  std::size_t place = PlaceOf(key);
  if (index_[place] != 0) return {index_[place] - 1, false};
  FIRN_CHECK(size_ < kGone - 1 && key.size() < kGone);
  if ((size_ + 1) * 6 > index_.size() * kLoadOf6) {
    Rehash(index_.size() * 2);
    place = PlaceOf(key);
  }
  Reserve();
  const auto index = static_cast<std::uint32_t>(size_++);
  SlotOf(index) = {PartitionState(), Store(key)};
  index_[place] = index + 1;
  return {index, true};
}

std::vector<std::uint32_t> PartitionStore::Keep(const std::vector<bool>& kept) {
  std::vector<std::uint32_t> moved(size_, kGone);
  const auto old_keys = std::exchange(key_chunks_, {});
  key_next_ = nullptr;
  key_left_ = key_bytes_ = 0;
  std::uint32_t next = 0;
  for (std::uint32_t i = 0; i < size_; ++i) {
    if (!kept[i]) continue;
    moved[i] = next;
    const char* stored = Store(key(i));
    SlotOf(next) = {SlotOf(i).state, stored};
    ++next;
  }
  size_ = next;
  while (chunks_.size() > 1 && (chunks_.size() - 1) * kChunkSlots >= std::max<std::size_t>(size_, 1)) {
    chunks_.pop_back();
    capacity_ = chunks_.size() * kChunkSlots;
  }
  std::size_t places = kFirstPlaces;
  while ((size_ + 1) * 6 > places * kLoadOf6) places *= 2;
  Rehash(places);
  return moved;
}

}  // namespace firn::orient
