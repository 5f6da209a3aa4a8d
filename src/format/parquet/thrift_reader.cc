// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/thrift_reader.h"

#include <limits>

#include "format/parquet/thrift_writer.h"

namespace firn::parquet {

namespace {
constexpr int kSkipDepthMax = 32;
}  // namespace

Status ThriftReader::status() const {
  if (ok()) return Ok();
  return Error{Code::kCorrupt, "offset " + std::to_string(fault_position_) + ": " + fault_};
}

void ThriftReader::Fail(const char* what) {
  if (fault_ != nullptr) return;
  fault_ = what;
  fault_position_ = position();
  at_ = end_;
}

std::uint64_t ThriftReader::ReadLongVarint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == end_) return Fail("bytes end inside a number"), 0;
    const std::uint8_t byte = *at_++;
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return Fail("number longer than ten bytes"), 0;
}

std::int32_t ThriftReader::ReadI32() {
  const std::int64_t value = ReadI64();
  if (value < std::numeric_limits<std::int32_t>::min() || value > std::numeric_limits<std::int32_t>::max()) {
    return Fail("number does not fit in 32 bits"), 0;
  }
  return static_cast<std::int32_t>(value);
}

std::int16_t ThriftReader::ReadI16() {
  const std::int64_t value = ReadI64();
  if (value < std::numeric_limits<std::int16_t>::min() || value > std::numeric_limits<std::int16_t>::max()) {
    return Fail("number does not fit in 16 bits"), std::int16_t{0};
  }
  return static_cast<std::int16_t>(value);
}

ByteView ThriftReader::ReadBinary() {
  const std::uint64_t size = ReadVarint();
  if (size > remaining()) return Fail("binary is longer than the bytes left"), ByteView{};
  const ByteView view(at_, static_cast<std::size_t>(size));
  at_ += size;
  return view;
}

std::size_t ThriftReader::BeginList(ThriftType element) {
  const std::uint8_t head = ReadRawByte();
  const std::uint64_t count = head >> 4 == 15 ? ReadVarint() : head >> 4;
  const auto type = static_cast<ThriftType>(head & 15);
  if (type > ThriftType::kUuid) return Fail("unknown wire type"), 0;
  if (count == 0) return 0;
  const bool same = type == element || (element == ThriftType::kTrue && type == ThriftType::kFalse);
  if (!same) return Fail("list of an unexpected element type"), 0;
  if (count > remaining()) return Fail("list is longer than the bytes left"), 0;
  return static_cast<std::size_t>(count);
}

void ThriftReader::SkipBytes(std::uint64_t count) {
  if (count > remaining()) return Fail("bytes end inside a value");
  at_ += count;
}

void ThriftReader::SkipValue(ThriftType type, int depth) {
  if (depth > kSkipDepthMax) return Fail("nested too deeply");
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse: return;
    case ThriftType::kByte: return SkipBytes(1);
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64: ReadVarint(); return;
    case ThriftType::kDouble: return SkipBytes(8);
    case ThriftType::kUuid: return SkipBytes(16);
    case ThriftType::kBinary: ReadBinary(); return;
    case ThriftType::kStruct: {
      ThriftStruct fields(*this);
      while (fields.Next()) SkipValue(fields.type(), depth + 1);
      return;
    }
    case ThriftType::kList:
    case ThriftType::kSet: {
      const std::uint8_t head = ReadRawByte();
      const std::uint64_t count = head >> 4 == 15 ? ReadVarint() : head >> 4;
      if (count > remaining()) return Fail("list is longer than the bytes left");
      auto element = static_cast<ThriftType>(head & 15);
      if (element > ThriftType::kUuid) return Fail("unknown wire type");
      // A boolean takes a byte in a list and none as a field.
      if (element == ThriftType::kTrue || element == ThriftType::kFalse) element = ThriftType::kByte;
      for (std::uint64_t i = 0; i < count && ok(); ++i) SkipValue(element, depth + 1);
      return;
    }
    case ThriftType::kMap: {
      const std::uint64_t count = ReadVarint();
      if (count == 0) return;
      if (count > remaining()) return Fail("map is longer than the bytes left");
      const std::uint8_t types = ReadRawByte();
      auto key = static_cast<ThriftType>(types >> 4);
      auto value = static_cast<ThriftType>(types & 15);
      if (key > ThriftType::kUuid || value > ThriftType::kUuid) return Fail("unknown wire type");
      if (key == ThriftType::kTrue || key == ThriftType::kFalse) key = ThriftType::kByte;
      if (value == ThriftType::kTrue || value == ThriftType::kFalse) value = ThriftType::kByte;
      for (std::uint64_t i = 0; i < count && ok(); ++i) {
        SkipValue(key, depth + 1);
        SkipValue(value, depth + 1);
      }
      return;
    }
    case ThriftType::kStop: break;
  }
  Fail("unknown wire type");
}

bool ThriftStruct::Next() {
  const std::uint8_t head = reader_.ReadRawByte();
  if (head == 0 || !reader_.ok()) return false;
  type_ = static_cast<ThriftType>(head & 15);
  const int delta = head >> 4;
  if (delta == 0) {
    id_ = reader_.ReadI16();
  } else {
    const int id = id_ + delta;
    if (id > std::numeric_limits<std::int16_t>::max()) return reader_.Fail("field id is too large"), false;
    id_ = static_cast<std::int16_t>(id);
  }
  if (type_ == ThriftType::kStop) return reader_.Fail("unknown wire type"), false;
  seen_before_ = seen_;
  if (id_ > 0 && id_ < 32) seen_ |= std::uint32_t{1} << id_;
  return reader_.ok();
}

void AppendKept(Bytes& kept, std::int16_t id, ThriftType type, ByteView value) {
  AppendZigzag(kept, id);
  kept.push_back(static_cast<std::uint8_t>(type));
  AppendVarint(kept, value.size());
  kept.insert(kept.end(), value.begin(), value.end());
}

void ThriftStruct::Keep(Bytes& kept) {
  const std::size_t start = reader_.position();
  Skip();
  if (reader_.ok()) AppendKept(kept, id_, type_, reader_.Since(start));
}

}  // namespace firn::parquet
