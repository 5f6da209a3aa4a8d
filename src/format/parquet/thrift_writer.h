// SPDX-License-Identifier: Apache-2.0
//
// Appends structs in thrift's compact protocol to bytes.
//
// Guarantees: field ids are written as deltas where they ascend by at most 15; what a ThriftStruct kept is written
//   back with ids that fit its new neighbours.
// Cost: appends to one vector.
// Threads: one owner.
// Source: Apache Thrift, "Thrift Compact protocol encoding".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "format/parquet/thrift_reader.h"

namespace firn::parquet {

void AppendVarint(Bytes& out, std::uint64_t value);
void AppendZigzag(Bytes& out, std::int64_t value);

/// Writes the fields of one struct; End() closes it. Nested structs are opened by Field(id, kStruct) and a writer of
/// their own on the same bytes.
class ThriftWriter {
 public:
  explicit ThriftWriter(Bytes& out) : out_(out) {}

  Bytes& out() { return out_; }
  void Field(int id, ThriftType type);
  void I16(int id, std::int16_t value) { Field(id, ThriftType::kI16), AppendZigzag(out_, value); }
  void I32(int id, std::int32_t value) { Field(id, ThriftType::kI32), AppendZigzag(out_, value); }
  void I64(int id, std::int64_t value) { Field(id, ThriftType::kI64), AppendZigzag(out_, value); }
  void Byte(int id, std::int8_t value) {
    Field(id, ThriftType::kByte);
    out_.push_back(static_cast<std::uint8_t>(value));
  }
  void Bool(int id, bool value) { Field(id, value ? ThriftType::kTrue : ThriftType::kFalse); }
  void Binary(int id, ByteView value) { Field(id, ThriftType::kBinary), BinaryElement(value); }
  void Text(int id, std::string_view value) { Binary(id, AsBytes(value)); }
  /// Opens a list; its elements follow.
  void List(int id, ThriftType element, std::size_t count);
  void I64List(int id, const std::vector<std::int64_t>& values);
  /// A struct without fields: the members of many unions.
  void EmptyStruct(int id) { Field(id, ThriftType::kStruct), out_.push_back(0); }

  void BinaryElement(ByteView value) {
    AppendVarint(out_, value.size());
    out_.insert(out_.end(), value.begin(), value.end());
  }
  /// The fields that ThriftStruct::Keep packed. Bytes of another origin that are not well packed are left out.
  void Kept(ByteView kept);
  void End() { out_.push_back(0); }

 private:
  Bytes& out_;
  int last_id_ = 0;
};

}  // namespace firn::parquet
