// SPDX-License-Identifier: Apache-2.0
//
// Reads and skips Avro's binary encoding in a span of bytes.
//
// In: bytes of one block, possibly hostile. Out: values; views into the same bytes.
// Guarantees: never reads outside the span. The first fault is remembered: from then on every read gives zero or
//   an empty view and left() is 0, so that a loop over promised items ends; ask ok() once per record.
// Cost: a varint of one or two bytes takes a few cycles; runs of varints are skipped eight bytes at a time.
// Threads: one owner.
// Source: Apache Avro 1.11 specification, "Binary Encoding".
#pragma once

#include <cstdint>
#include <limits>

#include "base/bytes.h"

namespace firn::avro {

class Cursor {
 public:
  Cursor() = default;
  explicit Cursor(ByteView bytes) : begin_(bytes.data()), at_(begin_), end_(begin_ + bytes.size()) {}

  bool ok() const { return fault_ == nullptr; }
  /// Why and where it went wrong; null and the current offset while ok().
  const char* fault() const { return fault_; }
  std::size_t offset() const { return static_cast<std::size_t>((ok() ? at_ : fault_at_) - begin_); }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  /// `reason` must be a literal.
  void Fail(const char* reason) {
    if (!ok()) return;
    fault_ = reason;
    fault_at_ = at_;
    at_ = end_;
  }

  std::int64_t ReadLong() {
    if (at_ != end_ && *at_ < 0x80) {
      const std::uint64_t raw = *at_++;
      return ZigZag(raw);
    }
    return ReadLongSlow();
  }

  std::int32_t ReadInt() {
    const std::int64_t value = ReadLong();
    if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
      Fail("integer does not fit in 32 bits");
      return 0;
    }
    return static_cast<std::int32_t>(value);
  }

  bool ReadBoolean() {
    if (left() < 1 || *at_ > 1) {
      Fail(left() < 1 ? "ends inside a boolean" : "boolean is neither 0 nor 1");
      return false;
    }
    return *at_++ == 1;
  }

  float ReadFloat() { return ReadFixedWidth<float>("ends inside a float"); }
  double ReadDouble() { return ReadFixedWidth<double>("ends inside a double"); }

  ByteView ReadFixed(std::uint64_t size) {
    if (size > left()) {
      Fail("ends inside a value of fixed or given length");
      return {};
    }
    const ByteView view{at_, static_cast<std::size_t>(size)};
    at_ += size;
    return view;
  }

  /// bytes and string.
  ByteView ReadBytes() {
    const std::int64_t size = ReadLong();
    if (size < 0) {
      Fail("negative length");
      return {};
    }
    return ReadFixed(static_cast<std::uint64_t>(size));
  }

  void Skip(std::uint64_t size) { (void)ReadFixed(size); }

  /// Skips `count` varints. Their values are not checked, their end is.
  void SkipLongs(std::uint64_t count);

  struct ItemBlock {
    std::uint64_t count = 0;       // 0: the array or map ends
    std::uint64_t size_bytes = 0;  // 0 when the writer did not say
  };
  /// Header of the next run of array or map items. `item_size_min` of at least 1 bounds the count by the bytes that
  /// are left; with 0 (items without bytes) any count is taken, and the caller must not loop over it.
  ItemBlock ReadItemBlock(std::uint64_t item_size_min);

 private:
  static std::int64_t ZigZag(std::uint64_t raw) {
    return static_cast<std::int64_t>(raw >> 1) ^ -static_cast<std::int64_t>(raw & 1);
  }
  std::int64_t ReadLongSlow();

  template <class T>
  T ReadFixedWidth(const char* reason) {
    if (left() < sizeof(T)) {
      Fail(reason);
      return T{};
    }
    const T value = LoadLittle<T>(at_);
    at_ += sizeof(T);
    return value;
  }

  const std::uint8_t* begin_ = nullptr;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  const char* fault_ = nullptr;
  const std::uint8_t* fault_at_ = nullptr;
};

}  // namespace firn::avro
