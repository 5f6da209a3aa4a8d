// SPDX-License-Identifier: Apache-2.0
//
// Unites the dictionaries of several chunks into one and says where each entry went.
//
// In: dictionary pages as PLAIN values. Out: the united page, and per input an array old index -> new index.
// Guarantees: entries are compared bit by bit (so -0 and 0, and different NaN, stay apart) and kept in the order of
// first
//   sight: the first dictionary without duplicates is a prefix of the union.
// Cost: integers within a hinted range: an array access an entry; else a hash of 8 bytes or XXH3 of the bytes.
// Errors: kCorrupt (without a place: the caller adds it) when the page does not hold `count` values and nothing else.
// Threads: one owner.
// Source: Encodings.md "Dictionary Encoding".
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/parquet/metadata.h"
#include "splice/raw_buffer.h"

namespace firn::splice {

/// Bytes of a PLAIN value; 0 for BYTE_ARRAY and BOOLEAN.
std::size_t FixedWidth(parquet::PhysicalType type, std::int32_t type_length);

/// Where the `count` values of a PLAIN BYTE_ARRAY page begin (count + 1 offsets; lengths included). kCorrupt unless
/// they fill the page.
Status FindByteArrays(ByteView plain, std::size_t count, std::vector<std::uint32_t>& offsets);

/// kCorrupt unless `count` entries of `width` bytes fill a page of `size_bytes`.
Status CheckEntriesSize(std::size_t size_bytes, std::size_t count, std::size_t width);

class DictionaryUnion {
 public:
  DictionaryUnion(parquet::PhysicalType type, std::int32_t type_length);

  void Reset();
  /// Integers are expected in [min, max]: a table is used if the range is small. Values outside are fine, but slower.
  void ExpectRange(std::int64_t min, std::int64_t max);
  /// `mapping` gets an element an entry.
  Status Add(ByteView plain, std::size_t count, std::vector<std::uint32_t>& mapping);
  /// One value, PLAIN but a BYTE_ARRAY without its length.
  std::uint32_t AddValue(ByteView value);

  std::size_t count() const { return count_; }
  /// The page: PLAIN values.
  ByteView plain() const { return values_.view(); }

 private:
  struct Slot {
    std::uint32_t hash = 0, entry = 0;  // entry + 1; 0: empty
  };

  template <class T>
  void AddIntegers(const std::uint8_t* plain, std::size_t count, std::uint32_t* mapping);
  template <class T>
  bool AddDirect(const std::uint8_t* plain, std::size_t count, std::uint32_t* mapping, std::size_t& done);
  std::uint32_t AddHashed(std::uint64_t hash, ByteView value);
  std::uint64_t HashOf(ByteView value) const;
  ByteView EntryAt(std::uint32_t entry) const;
  void StopDirect();
  void GrowSlots();

  std::size_t width_ = 0;  // 0: BYTE_ARRAY
  bool is_integer_ = false;
  std::size_t count_ = 0;
  RawBuffer values_;
  std::vector<std::uint32_t> offsets_;  // BYTE_ARRAY: where the entries begin in values_
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> direct_;  // by value - direct_min_: entry + 1; empty: not in use
  std::int64_t direct_min_ = 0;
};

}  // namespace firn::splice
