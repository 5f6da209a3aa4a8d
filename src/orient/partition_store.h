// SPDX-License-Identifier: Apache-2.0
//
// Millions of partition states by key, in little memory.
//
// In: keys (partition_key.h). Out: states by index, 0 to size() - 1, in the order of insertion.
// Guarantees: an index stays valid until Keep or Clear; references until the next Insert.
// Cost: 112 bytes, the key and about 7 bytes a partition; an empty store some 100 bytes. O(1) a look-up.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "orient/partition_state.h"

namespace firn::orient {

class PartitionStore {
 public:
  PartitionStore() = default;
  PartitionStore(PartitionStore&&) noexcept = default;
  PartitionStore& operator=(PartitionStore&&) noexcept = default;

  std::size_t size() const { return size_; }
  /// Of all keys.
  std::size_t key_bytes() const { return key_bytes_; }
  std::optional<std::uint32_t> Find(std::string_view key) const;
  struct Inserted {
    std::uint32_t index = 0;
    bool is_new = false;
  };
  /// At most 2^32 - 2 partitions.
  Inserted Insert(std::string_view key);
  PartitionState& at(std::uint32_t index) { return SlotOf(index).state; }
  const PartitionState& at(std::uint32_t index) const { return SlotOf(index).state; }
  std::string_view key(std::uint32_t index) const;
  /// Drops the others. Returns the new index of each old one; kGone for those that were dropped.
  static constexpr std::uint32_t kGone = 0xffffffff;
  std::vector<std::uint32_t> Keep(const std::vector<bool>& kept);
  void Clear() { *this = PartitionStore(); }

 private:
  struct Slot {
    PartitionState state;
    const char* key = nullptr;  // size as 32 bits, then the bytes
  };
  static constexpr std::size_t kChunkSlots = 1024;

  Slot& SlotOf(std::uint32_t index) { return chunks_[index / kChunkSlots][index % kChunkSlots]; }
  const Slot& SlotOf(std::uint32_t index) const { return chunks_[index / kChunkSlots][index % kChunkSlots]; }
  void Reserve();
  const char* Store(std::string_view key);
  std::size_t PlaceOf(std::string_view key) const;
  void Rehash(std::size_t places);

  std::vector<std::unique_ptr<Slot[]>> chunks_;
  std::size_t size_ = 0, capacity_ = 0;
  std::vector<std::uint32_t> index_;  // open addressing: slot + 1, 0 is free; a power of two
  std::vector<std::unique_ptr<char[]>> key_chunks_;
  char* key_next_ = nullptr;
  std::size_t key_left_ = 0, key_bytes_ = 0;
};

}  // namespace firn::orient
