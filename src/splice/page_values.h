// SPDX-License-Identifier: Apache-2.0
//
// The values of the page that is being built, and feeds that take values out of input pages.
//
// In: the value section of an input page, and for dictionary-encoded ones what its indices mean in the output.
// Out: dictionary indices, PLAIN values, or bits.
// Guarantees: every index, length and run of the input is checked; a page either gives all the values that are asked
// for
//   or an error. Values are moved, never interpreted.
// Cost: about 1 ns an index, a memcpy for the rest.
// Errors: kCorrupt without a place: the caller adds input and offset.
// Threads: one owner.
// Source: Encodings.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "splice/hybrid.h"
#include "splice/raw_buffer.h"

namespace firn::splice {

enum class ValueMode : std::uint8_t { kNone, kIndices, kPlain, kBits };

/// What may stand behind the values of a page: nothing, or the eight zeros that fastparquet puts there.
bool IsPadding(ByteView rest);

class PageValues {
 public:
  /// Forgets the content. `index_width` for kIndices.
  void Reset(ValueMode mode, unsigned index_width);
  ValueMode mode() const { return mode_; }
  std::size_t SizeBytes() const;

  HybridWriter& indices() { return indices_; }
  /// PLAIN values behind kHeadroom bytes that hold nothing, so that levels can be put before them without a copy.
  RawBuffer& plain() { return plain_; }
  ByteView plain_values() const { return plain_.view().subspan(kHeadroom); }
  /// `front`, then the PLAIN values. At most kHeadroom bytes.
  ByteView PutBefore(ByteView front);
  static constexpr std::size_t kHeadroom = 64;
  /// Bits `first` to `first + count` of `from`; up to 8 bytes behind the last one are readable.
  void AppendBits(const std::uint8_t* from, std::size_t first, std::size_t count);
  void AppendBitRun(bool bit, std::size_t count);
  /// The finished bits, padded with zeros.
  ByteView bits() const { return {plain_.data(), (bit_count_ + 7) / 8}; }

 private:
  void AppendWord(std::uint64_t bits, unsigned count);

  ValueMode mode_ = ValueMode::kNone;
  HybridWriter indices_;
  RawBuffer plain_;
  std::size_t bit_count_ = 0;
};

class ValueFeed {
 public:
  virtual ~ValueFeed() = default;
  /// Appends the next `count` values to `out`, whose mode fits the feed.
  virtual Status Take(std::size_t count, PageValues& out) = 0;
  /// Passes the next `count` values. Skipped indices are not checked.
  virtual Status Skip(std::size_t count) = 0;
  /// How many values to take at once at most, so that the page grows in steps of moderate size.
  virtual std::size_t StepMax() const = 0;
  /// Whether the page has nothing behind the values taken so far.
  virtual bool AtEnd() const = 0;
};

/// The entries of one dictionary as bytes, for expanding indices to PLAIN values.
struct EntryTable {
  ByteView plain;
  std::size_t count = 0;
  std::size_t width = 0;               // 0: BYTE_ARRAY, with offsets
  std::vector<std::uint32_t> offsets;  // count + 1
  std::size_t entry_bytes_max = 0;

  /// `plain` must stay alive. kCorrupt unless it holds `entry_count` entries and nothing else.
  Status Build(ByteView values, std::size_t entry_count, std::size_t fixed_width);
};

/// Dictionary indices: remapped into kIndices, or expanded into kPlain.
class IndexFeed final : public ValueFeed {
 public:
  /// `values` starts with the bit width. `mapping` (of `count` elements, null: identity) leads into the output's
  /// dictionary.
  Status OpenRemap(ByteView values, const std::uint32_t* mapping, std::size_t count);
  Status OpenExpand(ByteView values, const EntryTable& table);
  Status Take(std::size_t count, PageValues& out) override;
  Status Skip(std::size_t count) override;
  std::size_t StepMax() const override;
  /// Where no value was taken, whatever stands there: writers differ in what they put into pages of nulls.
  bool AtEnd() const override { return !taken_ || (reader_.BetweenRuns() && IsPadding(reader_.rest())); }

 private:
  Status OpenIndices(ByteView values);
  void Expand(const std::uint32_t* indices, std::size_t count, RawBuffer& out) const;
  void ExpandByteArrays(const std::uint32_t* indices, std::size_t count, RawBuffer& out) const;

  HybridReader reader_;
  const std::uint32_t* mapping_ = nullptr;
  const EntryTable* table_ = nullptr;
  std::size_t count_ = 0;
  bool taken_ = false;
};

/// PLAIN values of a fixed width, byte arrays, or booleans (PLAIN or RLE).
class PlainFeed final : public ValueFeed {
 public:
  void OpenFixed(ByteView values, std::size_t width);
  void OpenByteArrays(ByteView values);
  void OpenBits(ByteView values);
  Status OpenRleBits(ByteView values);
  Status Take(std::size_t count, PageValues& out) override;
  Status Skip(std::size_t count) override;
  std::size_t StepMax() const override { return std::size_t{1} << 14; }
  bool AtEnd() const override;

 private:
  enum class Kind : std::uint8_t { kFixed, kByteArrays, kBits, kRleBits };
  Status TakeByteArrays(std::size_t count, RawBuffer& out);
  Status TakeRleBits(std::size_t count, PageValues& out);

  Kind kind_ = Kind::kFixed;
  ByteView values_;                 // kRleBits: what follows the runs
  std::size_t width_ = 0, at_ = 0;  // at_: bytes, or bits
  HybridReader reader_;
};

}  // namespace firn::splice
