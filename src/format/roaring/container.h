// SPDX-License-Identifier: Apache-2.0
//
// A set of 16-bit values in one of the three layouts of the Roaring format. Internal to this folder.
//
// Guarantees: never holds more than 8 KiB of content; the memory layout is the wire layout (runs without their count).
// Cost: Contains is O(log n) or O(1), Union O(n), Add O(n) in the worst case with n <= 4096.
// Errors: kCorrupt without a place when wire words break the layout.
// Threads: a value.
// Source: Roaring format specification, "Container storage".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::roaring {

enum class Layout : std::uint8_t { kArray, kBitmap, kRuns };

inline constexpr std::uint32_t kArrayMax = 4096;        // values of an array
inline constexpr std::size_t kBitmapWords = 4096;       // 16-bit words of a bitmap
inline constexpr std::uint32_t kContainerSize = 65536;  // values that there are

/// First and last value of a run.
struct Run {
  std::uint32_t first = 0, last = 0;
};

class Container {
 public:
  /// Takes over words as they are stored: sorted values, 4096 words of bits, or pairs of first value and length - 1.
  /// `cardinality` is what the header says.
  static Result<Container> FromWire(Layout layout, std::vector<std::uint16_t> words, std::uint32_t cardinality);

  Layout layout() const { return layout_; }
  std::uint32_t cardinality() const { return cardinality_; }
  std::span<const std::uint16_t> words() const { return words_; }
  std::size_t memory_bytes() const { return words_.capacity() * sizeof(std::uint16_t); }

  bool Contains(std::uint16_t value) const;
  /// Whether it was not there.
  bool Add(std::uint16_t value);
  void AddRun(Run run);
  void Union(const Container& other);
  /// Takes out `end` and what is above it.
  void Truncate(std::uint32_t end);
  /// Members below `value`, which may be kContainerSize.
  std::uint32_t CountBefore(std::uint32_t value) const;
  /// The first maximal run with a member at or after `from`, cut off below it; false if there is none. `at` speeds up
  /// a walk with ascending `from`: start with 0, give it back unchanged.
  bool NextRun(std::uint32_t from, std::size_t& at, Run& run) const;
  /// Takes the smallest layout; runs only if they are smaller than both others.
  void Compact();

 private:
  std::uint32_t CountRuns() const;
  std::uint64_t BitsAt(std::size_t word) const;
  void OrBits(std::size_t word, std::uint64_t bits);
  void SetBits(Run run);
  void ToBitmap();
  void ToArray();
  void ToRuns();
  void ExtendRuns(Run run);
  void UnionArrays(const Container& other);
  void UnionRuns(const Container& other);

  Layout layout_ = Layout::kArray;
  std::uint32_t cardinality_ = 0;
  std::vector<std::uint16_t> words_;
};

}  // namespace firn::roaring
