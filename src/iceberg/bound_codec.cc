// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "base/check.h"
#include "iceberg/calendar.h"
#include "iceberg/decimal_bytes.h"
#include "iceberg/literal.h"

namespace firn::iceberg {
namespace {

template <class T>
Bytes Little(T value) {
  Bytes bytes(sizeof value);
  StoreLittle(bytes.data(), value);
  return bytes;
}

/// Encodes by the value's alternative; a value narrower than its type is widened first.
struct Encoder {
  TypeKind kind;

  Bytes operator()(std::monostate) const { return {}; }
  Bytes operator()(bool value) const { return {static_cast<std::uint8_t>(value ? 1 : 0)}; }
  Bytes operator()(std::int32_t value) const {
    return kind == TypeKind::kLong ? Little<std::int64_t>(value) : Little(value);
  }
  Bytes operator()(std::int64_t value) const { return Little(value); }
  Bytes operator()(float value) const { return kind == TypeKind::kDouble ? Little<double>(value) : Little(value); }
  Bytes operator()(double value) const { return Little(value); }
  Bytes operator()(const std::string& value) const { return {value.begin(), value.end()}; }
  Bytes operator()(const Bytes& value) const { return value; }
  Bytes operator()(const Decimal& value) const { return MinimalBigEndian(value); }
};

Error BadLength(const Type& type, std::size_t size) {
  return {Code::kCorrupt, fmt::format("a value of type {} cannot have {} bytes", ToString(type), size)};
}

/// A date that was promoted to a timestamp.
Result<Literal> Midnight(const Type& type, std::int32_t days, TimeUnit unit) {
  std::int64_t value = 0;
  if (__builtin_mul_overflow(static_cast<std::int64_t>(days), kSecondsPerDay * UnitsPerSecond(unit), &value)) {
    return Error{Code::kCorrupt, fmt::format("day {} is outside of the range of {}", days, ToString(type))};
  }
  return Literal(value);
}

Result<Literal> DecodeLong(const Type& type, ByteView bytes) {
  if (bytes.size() == 8) return Literal(LoadLittle<std::int64_t>(bytes.data()));
  if (bytes.size() != 4) return BadLength(type, bytes.size());
  const auto narrow = LoadLittle<std::int32_t>(bytes.data());
  switch (type.kind) {
    case TypeKind::kLong: return Literal(static_cast<std::int64_t>(narrow));
    case TypeKind::kTimestamp: return Midnight(type, narrow, TimeUnit::kMicros);
    case TypeKind::kTimestampNs: return Midnight(type, narrow, TimeUnit::kNanos);
    default: return BadLength(type, bytes.size());
  }
}

Result<Literal> DecodeDouble(const Type& type, ByteView bytes) {
  if (bytes.size() == 8) return Literal(LoadLittle<double>(bytes.data()));
  if (bytes.size() == 4) return Literal(static_cast<double>(LoadLittle<float>(bytes.data())));
  return BadLength(type, bytes.size());
}

}  // namespace

Bytes EncodeBound(const Type& type, const Literal& value) { return std::visit(Encoder{type.kind}, value); }

Result<Literal> DecodeBound(const Type& type, ByteView bytes) {
  const std::size_t size = bytes.size();
  switch (type.kind) {
    case TypeKind::kBoolean:
      if (size != 1) return BadLength(type, size);
      return Literal(bytes[0] != 0);
    case TypeKind::kInt:
    case TypeKind::kDate:
      if (size != 4) return BadLength(type, size);
      return Literal(LoadLittle<std::int32_t>(bytes.data()));
    case TypeKind::kFloat:
      if (size != 4) return BadLength(type, size);
      return Literal(LoadLittle<float>(bytes.data()));
    case TypeKind::kDouble: return DecodeDouble(type, bytes);
    case TypeKind::kLong:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: return DecodeLong(type, bytes);
    case TypeKind::kString: return Literal(std::string(AsText(bytes)));
    case TypeKind::kUuid:
      if (size != 16) return BadLength(type, size);
      return Literal(Bytes(bytes.begin(), bytes.end()));
    case TypeKind::kFixed:  // shorter when a writer has cut the bound
      if (size > static_cast<std::size_t>(type.length)) return BadLength(type, size);
      return Literal(Bytes(bytes.begin(), bytes.end()));
    case TypeKind::kBinary: return Literal(Bytes(bytes.begin(), bytes.end()));
    case TypeKind::kDecimal:
      if (const auto decimal = DecimalFromBigEndian(bytes)) return Literal(*decimal);
      return BadLength(type, size);
    default: break;
  }
  return Error{Code::kUnsupported, fmt::format("values of type {} have no single-value form", ToString(type))};
}

}  // namespace firn::iceberg
