// SPDX-License-Identifier: Apache-2.0
//
// Feeds that decode the delta encodings and BYTE_STREAM_SPLIT to PLAIN values, as they are asked for.
//
// Guarantees: as page_values.h. A page of front-coded strings cannot grow beyond `value_bytes_max` in the output page.
// Cost: 1 to 3 ns a value and a memcpy; memory: the last string.
// Errors: kCorrupt, kLimit without a place.
// Threads: one owner.
// Source: Encodings.md; PARQUET-246 (old parquet-mr goes on from the last value of the page before).
#pragma once

#include "splice/delta_read.h"
#include "splice/page_values.h"

namespace firn::splice {

/// DELTA_BINARY_PACKED to PLAIN integers of 4 or 8 bytes.
class DeltaIntegerFeed final : public ValueFeed {
 public:
  Status Open(ByteView values, std::size_t width);
  Status Take(std::size_t count, PageValues& out) override;
  Status Skip(std::size_t count) override;
  std::size_t StepMax() const override { return std::size_t{1} << 14; }
  bool AtEnd() const override { return reader_.left() == 0; }

 private:
  DeltaReader reader_;
  std::size_t width_ = 8;
};

/// DELTA_LENGTH_BYTE_ARRAY to PLAIN byte arrays.
class DeltaLengthFeed final : public ValueFeed {
 public:
  Status Open(ByteView values);
  Status Take(std::size_t count, PageValues& out) override;
  Status Skip(std::size_t count) override;
  std::size_t StepMax() const override { return std::size_t{1} << 14; }
  bool AtEnd() const override { return lengths_.left() == 0 && IsPadding(data_); }

 private:
  DeltaReader lengths_;
  ByteView data_;
};

/// DELTA_BYTE_ARRAY to PLAIN byte arrays, or fixed-length ones.
class DeltaStringFeed final : public ValueFeed {
 public:
  /// `fixed_width` 0: BYTE_ARRAY. `goes_on`: prefixes refer to the last value of the page that was open before.
  Status Open(ByteView values, std::size_t fixed_width, std::size_t value_bytes_max, bool goes_on);
  Status Take(std::size_t count, PageValues& out) override;
  Status Skip(std::size_t count) override;
  std::size_t StepMax() const override { return 512; }
  bool AtEnd() const override { return prefixes_.left() == 0 && suffixes_.left() == 0 && IsPadding(data_); }

 private:
  Status TakeOne(std::int64_t prefix, std::int64_t suffix, RawBuffer& out);

  DeltaReader prefixes_, suffixes_;
  ByteView data_;
  std::size_t fixed_width_ = 0, value_bytes_max_ = 0;
  RawBuffer last_;
};

/// BYTE_STREAM_SPLIT to PLAIN values.
class StreamSplitFeed final : public ValueFeed {
 public:
  Status Open(ByteView values, std::size_t width);
  Status Take(std::size_t count, PageValues& out) override;
  Status Skip(std::size_t count) override;
  std::size_t StepMax() const override { return std::size_t{1} << 14; }
  bool AtEnd() const override { return at_ == count_; }

 private:
  ByteView values_;
  std::size_t width_ = 0, count_ = 0, at_ = 0;
};

}  // namespace firn::splice
