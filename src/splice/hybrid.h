// SPDX-License-Identifier: Apache-2.0
//
// Reads and writes the RLE/bit-packing hybrid in slices, for levels and dictionary indices.
//
// In: the bytes of one page's levels or indices, without the length or width before them. RawBuffer's slack (or as
//   many readable bytes) must follow them.
// Out: values; or, from the writer, runs: bit-packed ones of up to 480 values, repeated ones where they are smaller.
// Guarantees: the reader stays inside its bytes and ends; values are those of the stream, a repeated value may be wider
//   than the bit width in corrupt data, so callers check ranges.
// Cost: about 1 ns a value; runs are handed over as runs.
// Threads: one owner.
// Source: Encodings.md, "Run Length Encoding / Bit-Packing Hybrid".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "splice/raw_buffer.h"

namespace firn::splice {

class HybridReader {
 public:
  HybridReader() = default;
  /// `width` <= 32.
  HybridReader(ByteView bytes, unsigned width) : at_(bytes.data()), end_(bytes.data() + bytes.size()), width_(width) {}

  /// Reads at most `count` values. Fewer: the stream ended or is broken.
  std::size_t Read(std::uint32_t* out, std::size_t count);
  /// Passes at most `count` values. Fewer: likewise.
  std::size_t Skip(std::size_t count);
  /// If a repeated run comes next: its value and how much of it is left, else 0.
  std::size_t Repeated(std::uint32_t& value) {
    if (left_ == 0 && !LoadRun()) return 0;
    value = value_;
    return packed_ == nullptr ? left_ : 0;
  }
  void SkipRepeated(std::size_t count) { left_ -= count; }
  /// Whether nothing follows but the padding of a packed run.
  bool AtEnd() const { return at_ == end_ && BetweenRuns(); }
  /// Whether no value is left of the current run but the padding of a packed one; what follows it.
  bool BetweenRuns() const { return left_ == 0 || packed_ != nullptr; }
  ByteView rest() const { return {at_, static_cast<std::size_t>(end_ - at_)}; }

 private:
  bool LoadRun();
  bool ReadRun();

  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  unsigned width_ = 0;
  const std::uint8_t* packed_ = nullptr;  // of the current run; null: a repeated one
  std::size_t position_ = 0;              // in a packed run
  std::size_t left_ = 0;
  std::uint32_t value_ = 0;
};

class HybridWriter {
 public:
  /// Forgets the content.
  void Reset(unsigned width);
  unsigned width() const { return width_; }
  /// Values below 2^width.
  void Append(const std::uint32_t* values, std::size_t count);
  void AppendRun(std::uint32_t value, std::size_t count);
  /// Ends the last run. Nothing may be appended until Reset.
  ByteView Finish();
  /// Size if it ended now, rounded up.
  std::size_t SizeBytes() const { return out_.size() + count_ * width_ / 8 + 8; }

 private:
  void EndGroup();
  std::size_t AppendMixedGroups(const std::uint32_t* values, std::size_t count);
  void OpenRun(std::uint32_t value, std::size_t count);
  void CloseRun();
  void FlushPacked(std::size_t count);
  void PutVarint(std::uint64_t value);

  /// Whole blocks of 32, whose head takes one byte. Readers that are given less than a run, as vectors of a nullable or
  /// repeated column are, unpack what is left of it value by value: in long runs DuckDB's scans took 10 to 20 % more.
  static constexpr std::size_t kPendingMax = 480;

  RawBuffer out_;
  unsigned width_ = 0;
  std::size_t run_groups_min_ = 1;  // groups of equal values from which a repeated run is smaller
  std::uint32_t run_value_ = 0;
  std::size_t run_count_ = 0;     // > 0: a repeated run is open and nothing is pending
  std::size_t count_ = 0;         // pending values
  std::size_t equal_groups_ = 0;  // how many of the last pending groups hold just `equal_value_`
  std::uint32_t equal_value_ = 0;
  std::array<std::uint32_t, kPendingMax> pending_;
};

}  // namespace firn::splice
