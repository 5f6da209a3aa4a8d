// SPDX-License-Identifier: Apache-2.0
#include "iceberg/plain_value.h"

#include <limits>

#include "format/parquet/promotion.h"

namespace firn::iceberg {

namespace {

using parquet::PhysicalType;
using parquet::SchemaElement;

template <class T>
Bytes Little(T value) {
  Bytes bytes(sizeof value);
  StoreLittle(bytes.data(), value);
  return bytes;
}

struct PlainWriter {
  const SchemaElement& element;

  bool Is(PhysicalType type) const { return element.type == type; }
  bool IsDecimal() const { return parquet::EffectiveLogicalType(element).kind == parquet::LogicalKind::kDecimal; }
  Error Mismatch() const { return {Code::kUnsupported, "a value of another type for " + parquet::TypeText(element)}; }

  Result<Bytes> operator()(std::monostate) const { return Mismatch(); }
  Result<Bytes> operator()(bool value) const {
    if (!Is(PhysicalType::kBoolean)) return Mismatch();
    return Bytes{static_cast<std::uint8_t>(value)};
  }
  Result<Bytes> operator()(std::int32_t value) const {
    if (IsDecimal()) return Mismatch();
    if (Is(PhysicalType::kInt32)) return Little(value);
    const bool plain = parquet::EffectiveLogicalType(element).kind == parquet::LogicalKind::kNone;
    if (Is(PhysicalType::kInt64) && plain) return Little(std::int64_t{value});
    return Mismatch();
  }
  Result<Bytes> operator()(std::int64_t value) const {
    if (!Is(PhysicalType::kInt64) || IsDecimal()) return Mismatch();
    return Little(value);
  }
  Result<Bytes> operator()(float value) const {
    if (Is(PhysicalType::kFloat)) return Little(value);
    if (Is(PhysicalType::kDouble)) return Little(double{value});
    return Mismatch();
  }
  Result<Bytes> operator()(double value) const {
    if (!Is(PhysicalType::kDouble)) return Mismatch();
    return Little(value);
  }
  Result<Bytes> operator()(const std::string& value) const {
    if (!Is(PhysicalType::kByteArray)) return Mismatch();
    return Bytes(value.begin(), value.end());
  }
  Result<Bytes> operator()(const Bytes& value) const {
    const bool fits = Is(PhysicalType::kFixedLenByteArray) && !IsDecimal() &&
                      value.size() == static_cast<std::size_t>(element.type_length);
    if (!fits && !Is(PhysicalType::kByteArray)) return Mismatch();
    return value;
  }
  Result<Bytes> operator()(const Decimal& value) const {
    if (!IsDecimal()) return Mismatch();
    const auto fits = [&]<class T>(T*) {
      return value.unscaled >= std::numeric_limits<T>::min() && value.unscaled <= std::numeric_limits<T>::max();
    };
    if (Is(PhysicalType::kInt32) && fits(static_cast<std::int32_t*>(nullptr))) {
      return Little(static_cast<std::int32_t>(value.unscaled));
    }
    if (Is(PhysicalType::kInt64) && fits(static_cast<std::int64_t*>(nullptr))) {
      return Little(static_cast<std::int64_t>(value.unscaled));
    }
    if (!Is(PhysicalType::kFixedLenByteArray)) return Mismatch();
    return BigEndian(value.unscaled);
  }

  Result<Bytes> BigEndian(__int128 value) const {
    Bytes bytes(static_cast<std::size_t>(element.type_length));
    for (std::size_t i = bytes.size(); i-- > 0; value >>= 8) bytes[i] = static_cast<std::uint8_t>(value);
    const __int128 sign = bytes[0] >= 0x80 ? -1 : 0;
    if (value != sign) return Mismatch();
    return bytes;
  }
};

}  // namespace

Result<Bytes> PlainValue(const SchemaElement& element, const Literal& value) {
  return std::visit(PlainWriter{element}, value);
}

}  // namespace firn::iceberg
