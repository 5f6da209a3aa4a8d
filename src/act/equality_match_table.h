// SPDX-License-Identifier: Apache-2.0
//
// The deleted keys of one pass, and the newest delete of each.
//
// In: keys with hashes and the rank of the delete's sequence number. Out: which keys of a batch are deleted.
// Guarantees: exact: keys are kept and compared, hashes only lead to them; where a hash stands for one key, that is
//   enough. Memory stays below the limit: a table that would outgrow it gives up the upper part of its hash range,
//   which is left for another pass.
// Cost: 16 bytes a slot, at most three of four used, up to 3 bytes of filter a key, and the key unless its hash
//   stands for it. A row that is not deleted costs one look into the filter.
// Errors: kLimit if even one key does not fit.
// Threads: filled by one; shared after Seal().
// Source: linear probing; a Bloom filter whose bits lie in one word (Putze, Sanders, Singler 2007).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "act/equality_match_keys.h"

namespace firn::act {

inline constexpr std::uint64_t kHashMax = std::numeric_limits<std::uint64_t>::max();

class KeyTable {
 public:
  KeyTable(const KeyLayout& layout, std::int64_t memory_bytes);

  /// Keys that fit without giving up hashes, if those of varying size have `text_bytes`.
  std::size_t KeysThatFit(std::size_t text_bytes) const;
  /// Empties the table. It takes hashes from `first` to `last`, and has room for `expected` keys if they fit.
  void Begin(std::uint64_t first, std::uint64_t last, std::size_t expected);
  /// Adds the keys of a batch that are in range; of equal keys the highest rank stays. May lower last_hash().
  Status Insert(const KeyBatch& batch, std::uint32_t rank);
  /// After the last Insert.
  void Seal();

  std::uint64_t last_hash() const { return last_; }
  std::size_t size() const { return used_ + (null_rank_ > 0 ? 1 : 0); }

  /// Calls `visit(row)` for the rows of the batch in range whose key is there with at least `rank`. `scratch` is the
  /// caller's, to be used again.
  template <class Visitor>
  void ForEachMatch(const KeyBatch& batch, std::uint32_t rank, std::vector<std::uint32_t>& scratch,
                    Visitor visit) const;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    std::uint32_t key = kEmpty;  // its place in the blocks
    std::uint32_t rank = 0;
  };
  static constexpr std::uint32_t kEmpty = 0xffffffff;
  // Rows between fetching a slot and looking at it; half way the key that it leads to is fetched.
  static constexpr std::size_t kAhead = 16;
  // Keys lie in blocks, and a place is block and offset.
  static constexpr std::uint32_t kBlockShift = 16;
  static constexpr std::size_t kBlockBytes = std::size_t{1} << kBlockShift;

  bool InRange(std::uint64_t hash) const { return hash - first_ <= last_ - first_; }
  std::size_t Home(std::uint64_t hash) const { return static_cast<std::size_t>(hash) & (slots_.size() - 1); }
  std::size_t FilterWord(std::uint64_t hash) const { return static_cast<std::size_t>(hash) & (filter_.size() - 1); }
  static std::uint64_t FilterBits(std::uint64_t hash) {
    const std::uint64_t other = hash * 0x9e3779b97f4a7c15ULL;
    return std::uint64_t{1} << (other >> 58) | std::uint64_t{1} << (other >> 52 & 63) |
           std::uint64_t{1} << (other >> 46 & 63) | std::uint64_t{1} << (other >> 40 & 63);
  }
  void FetchSlot(std::uint64_t hash) const { __builtin_prefetch(&slots_[Home(hash)]); }
  void FetchKey(std::uint64_t hash) const {
    const Slot& slot = slots_[Home(hash)];
    if (!is_number_ && slot.hash == hash && slot.key != kEmpty) __builtin_prefetch(PlaceAt(slot.key));
  }
  const std::uint8_t* PlaceAt(std::uint32_t place) const {
    return blocks_[place >> kBlockShift].get() + (place & (kBlockBytes - 1));
  }
  /// The slot of the key, or the empty one where it belongs.
  std::size_t Find(std::uint64_t hash, ByteView key) const;
  ByteView KeyAt(const std::uint8_t* at) const;
  std::size_t KeyRoom(ByteView key) const;
  std::size_t memory_bytes() const;
  bool HasBlockRoom(ByteView key) const { return KeyRoom(key) <= kBlockBytes - block_used_; }
  std::uint32_t Store(ByteView key);
  Status MakeRoom(ByteView key);
  void Grow();
  Status Narrow();
  void Place(const Slot& slot);
  void FindCandidates(const KeyBatch& batch, std::vector<std::uint32_t>& rows) const;

  std::size_t key_bytes_, memory_limit_;
  bool is_number_;
  std::uint64_t first_ = 0, last_ = kHashMax;
  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  std::vector<std::unique_ptr<std::uint8_t[]>> blocks_;
  std::size_t block_used_ = 0;   // of the last block
  std::uint32_t null_rank_ = 0;  // of the null key if hashes stand for keys; 0: it is not there
  std::vector<std::uint64_t> filter_;
};

template <class Visitor>
void KeyTable::ForEachMatch(const KeyBatch& batch, std::uint32_t rank, std::vector<std::uint32_t>& scratch,
                            Visitor visit) const {
  FindCandidates(batch, scratch);
  const std::span<const std::uint64_t> hashes = batch.hashes();
  const std::size_t count = scratch.size();
  for (std::size_t i = 0; i < std::min(kAhead, count); ++i) FetchSlot(hashes[scratch[i]]);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) FetchSlot(hashes[scratch[i + kAhead]]);
    if (i + kAhead / 2 < count) FetchKey(hashes[scratch[i + kAhead / 2]]);
    const std::uint32_t row = scratch[i];
    if (is_number_ && batch.IsNull(row)) {
      if (null_rank_ >= rank) visit(row);
      continue;
    }
    const Slot& slot = slots_[Find(hashes[row], batch.key(row))];
    if (slot.key != kEmpty && slot.rank >= rank) visit(row);
  }
}

}  // namespace firn::act
