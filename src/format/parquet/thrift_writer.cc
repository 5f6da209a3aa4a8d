// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/thrift_writer.h"

namespace firn::parquet {

void AppendVarint(Bytes& out, std::uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<std::uint8_t>(value | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<std::uint8_t>(value));
}

void AppendZigzag(Bytes& out, std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  AppendVarint(out, (bits << 1) ^ (value < 0 ? ~std::uint64_t{0} : 0));
}

void ThriftWriter::Field(int id, ThriftType type) {
  const int delta = id - last_id_;
  if (delta > 0 && delta <= 15) {
    out_.push_back(static_cast<std::uint8_t>(delta << 4 | static_cast<int>(type)));
  } else {
    out_.push_back(static_cast<std::uint8_t>(type));
    AppendZigzag(out_, id);
  }
  last_id_ = id;
}

void ThriftWriter::List(int id, ThriftType element, std::size_t count) {
  Field(id, ThriftType::kList);
  const auto type = static_cast<std::uint8_t>(element);
  if (count < 15) {
    out_.push_back(static_cast<std::uint8_t>(count << 4 | type));
  } else {
    out_.push_back(static_cast<std::uint8_t>(0xf0 | type));
    AppendVarint(out_, count);
  }
}

void ThriftWriter::I64List(int id, const std::vector<std::int64_t>& values) {
  List(id, ThriftType::kI64, values.size());
  for (const std::int64_t value : values) AppendZigzag(out_, value);
}

void ThriftWriter::Kept(ByteView kept) {
  ThriftReader reader(kept);
  while (reader.remaining() > 0) {
    const std::int16_t id = reader.ReadI16();
    const auto type = static_cast<ThriftType>(reader.ReadRawByte());
    const ByteView value = reader.ReadBinary();
    if (!reader.ok()) return;
    Field(id, type);
    out_.insert(out_.end(), value.begin(), value.end());
  }
}

}  // namespace firn::parquet
