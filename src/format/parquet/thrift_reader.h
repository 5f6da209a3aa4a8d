// SPDX-License-Identifier: Apache-2.0
//
// Walks bytes of thrift's compact protocol, field by field.
//
// In: bytes of a foreign file. Out: numbers, views of binaries, list sizes.
// Guarantees: the first fault sticks: after it every read gives zero and every struct ends, so callers check once, at
//   the end. No read leaves the bytes; a list never claims more elements than bytes are left; skipping is bounded in
//   depth. Fields that a caller does not know can be kept and written again (ThriftWriter::Kept).
// Cost: no allocation, except for kept fields.
// Errors: status(): kCorrupt with the offset of the fault.
// Threads: one owner.
// Source: Apache Thrift, "Thrift Compact protocol encoding".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "base/result.h"

namespace firn::parquet {

enum class ThriftType : std::uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
  kUuid = 13,
};

/// One number for a field id and its wire type, so that a switch matches both. A known id with another wire type is
/// treated as an unknown field, as generated thrift code does.
constexpr std::uint32_t ThriftKey(int id, ThriftType type) {
  return static_cast<std::uint32_t>(static_cast<std::uint16_t>(id)) << 8 | static_cast<std::uint8_t>(type);
}

class ThriftReader {
 public:
  explicit ThriftReader(ByteView bytes) : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return fault_ == nullptr; }
  Status status() const;
  std::size_t position() const { return static_cast<std::size_t>(at_ - begin_); }
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - at_); }
  /// Records the first fault; `what` must outlive the reader (a literal).
  void Fail(const char* what);

  std::uint8_t ReadRawByte() {
    if (at_ == end_) return Fail("bytes end inside a value"), std::uint8_t{0};
    return *at_++;
  }
  std::uint64_t ReadVarint() {
    if (at_ != end_ && *at_ < 0x80) return *at_++;
    return ReadLongVarint();
  }
  std::int64_t ReadI64() {
    const std::uint64_t value = ReadVarint();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  std::int32_t ReadI32();
  std::int16_t ReadI16();
  std::int8_t ReadByte() { return static_cast<std::int8_t>(ReadRawByte()); }
  ByteView ReadBinary();
  std::string ReadString() { return std::string(AsText(ReadBinary())); }
  /// An element of a list of bools.
  bool ReadBoolElement() { return ReadRawByte() == 1; }
  /// The size of a list whose elements must be of `element`; 0 after a fault.
  std::size_t BeginList(ThriftType element);

  void Skip(ThriftType type) { SkipValue(type, 0); }
  /// Bytes from an earlier position() to here.
  ByteView Since(std::size_t position) const { return {begin_ + position, at_}; }

 private:
  std::uint64_t ReadLongVarint();
  void SkipValue(ThriftType type, int depth);
  void SkipBytes(std::uint64_t count);

  const std::uint8_t* begin_;
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  const char* fault_ = nullptr;
  std::size_t fault_position_ = 0;
};

/// Appends a field to `kept`, packed as: zigzag varint of the field id, one byte wire type, varint length, the value's
/// bytes as they were (none for booleans: their value is the type).
void AppendKept(Bytes& kept, std::int16_t id, ThriftType type, ByteView value);

/// The fields of one struct: `while (s.Next()) switch (s.key()) {...}`. Every case must read or skip its value.
class ThriftStruct {
 public:
  explicit ThriftStruct(ThriftReader& reader) : reader_(reader) {}
  /// False at the end of the struct, or after a fault.
  bool Next();
  std::uint32_t key() const { return ThriftKey(id_, type_); }
  std::int16_t id() const { return id_; }
  ThriftType type() const { return type_; }
  bool boolean() const { return type_ == ThriftType::kTrue; }
  /// The ids below 32 so far, a bit each, without those that were skipped or kept: unknown ones, or of another type.
  std::uint32_t seen() const { return seen_; }
  void Skip() {
    Forget();
    reader_.Skip(type_);
  }
  /// Skips the value and appends it to `kept`.
  void Keep(Bytes& kept);

 private:
  void Forget() { seen_ = seen_before_; }

  ThriftReader& reader_;
  std::uint32_t seen_ = 0, seen_before_ = 0;  // before: the field that is being read
  std::int16_t id_ = 0;
  ThriftType type_ = ThriftType::kStop;
};

}  // namespace firn::parquet
