// SPDX-License-Identifier: Apache-2.0
//
// Appends values in Avro's binary encoding to a byte buffer.
//
// In: values. Out: bytes, shortest form. Guarantees: what Cursor reads back is what was written.
// Cost: amortised by the buffer's growth. Threads: one owner.
// Source: Apache Avro 1.11 specification, "Binary Encoding".
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace firn::avro {

class Encoder {
 public:
  const Bytes& bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  void Clear() { bytes_.clear(); }

  /// int, long, enum index, union branch.
  void WriteLong(std::int64_t value) {
    std::uint64_t raw = (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
    std::uint8_t varint[10];
    std::size_t size = 0;
    for (; raw >= 0x80; raw >>= 7) varint[size++] = static_cast<std::uint8_t>(raw | 0x80);
    varint[size++] = static_cast<std::uint8_t>(raw);
    bytes_.insert(bytes_.end(), varint, varint + size);
  }
  void WriteBoolean(bool value) { bytes_.push_back(value ? 1 : 0); }
  void WriteFloat(float value) { WriteFixedWidth(value); }
  void WriteDouble(double value) { WriteFixedWidth(value); }
  void WriteFixed(ByteView value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }
  void WriteBytes(ByteView value) {
    WriteLong(static_cast<std::int64_t>(value.size()));
    WriteFixed(value);
  }
  void WriteString(std::string_view value) { WriteBytes(AsBytes(value)); }

 private:
  template <class T>
  void WriteFixedWidth(T value) {
    std::uint8_t raw[sizeof(T)];
    StoreLittle(raw, value);
    WriteFixed(raw);
  }

  Bytes bytes_;
};

}  // namespace firn::avro
