// SPDX-License-Identifier: Apache-2.0
//
// A set of row positions, and its portable Roaring encoding (64 bits), in which deletion vectors are stored.
//
// In: positions of 63 bits; foreign bytes. Out: the set, walked in order; bytes.
// Guarantees: what Decode accepts is well formed: containers and keys ascend, cardinalities are right, no position has
//   its highest bit set, nothing follows. Encode writes every container in its smallest layout; equal sets give equal
//   bytes. Memory after Decode is at most 10 times the input.
// Cost: memory as encoded plus 40 bytes for 65,536 positions of the range that is used. Add is fastest in ascending
//   order; AddRange costs O(range / 65,536).
// Errors: kCorrupt with the offset in the bytes.
// Threads: a value; a const one may be shared.
// Source: Roaring format specification, "Extension for 64-bit implementations"; Puffin specification,
//   "deletion-vector-v1".
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "format/roaring/container.h"

namespace firn::roaring {

/// Positions from `begin` up to `end`, without `end`.
struct PositionRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const PositionRange&, const PositionRange&) = default;
};

class PositionSet {
 public:
  /// All of `bytes` is one set. 32-bit bitmaps without values are allowed, as Java writes them to fill gaps.
  static Result<PositionSet> Decode(ByteView bytes);
  Bytes Encode() const;

  /// Positions must not be negative: check foreign ones before.
  void Add(std::int64_t position);
  void AddRange(PositionRange range);
  void Union(const PositionSet& other);
  /// Takes out all positions from `end` on.
  void Truncate(std::int64_t end);

  bool Contains(std::int64_t position) const;
  bool empty() const { return cardinality_ == 0; }
  std::int64_t cardinality() const { return cardinality_; }
  /// Members below `position`: the rank. For many of them see PositionRanks.
  std::int64_t CountBefore(std::int64_t position) const;
  std::int64_t CountIn(PositionRange range) const { return CountBefore(range.end) - CountBefore(range.begin); }
  /// The set must not be empty.
  std::int64_t first() const;
  std::int64_t last() const;
  /// All members in order, for small sets.
  std::vector<std::int64_t> ToVector() const;

  /// Takes the smallest layout everywhere, as Encode writes it.
  void Compact();
  std::size_t memory_bytes() const;
  friend bool operator==(const PositionSet& a, const PositionSet& b);

 private:
  friend class RangeCursor;
  friend class PositionRanks;
  struct Chunk {
    std::uint64_t key = 0;  // position / 65,536
    Container container;
  };
  Container& ContainerOf(std::uint64_t key);
  /// Index of the first chunk whose key is not below `key`.
  std::size_t Find(std::uint64_t key) const;

  std::vector<Chunk> chunks_;  // by key, none is empty
  std::int64_t cardinality_ = 0;
};

/// Walks the members of a range as maximal ranges, in order. The set must not change meanwhile.
class RangeCursor {
 public:
  RangeCursor(const PositionSet& set, PositionRange within);
  /// False at the end.
  bool Next(PositionRange& range);

 private:
  bool NextRun(PositionRange& range);

  const PositionSet* set_;
  std::int64_t next_, end_;
  std::size_t chunk_, at_ = 0;
};

/// Ranks in O(log n), for translating many positions. The set must not change meanwhile.
class PositionRanks {
 public:
  explicit PositionRanks(const PositionSet& set);
  std::int64_t CountBefore(std::int64_t position) const;

 private:
  const PositionSet* set_;
  std::vector<std::int64_t> before_;  // members in the chunks before each one
};

/// Members of `from` that are not in `without`. O(ranges of both).
PositionSet Difference(const PositionSet& from, const PositionSet& without);

}  // namespace firn::roaring
