// SPDX-License-Identifier: Apache-2.0
#include "splice/value_order.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace firn::splice {

namespace {

using parquet::LogicalKind;
using parquet::PhysicalType;

constexpr std::int32_t kConvertedDecimal = 5, kConvertedUint8 = 11, kConvertedUint64 = 14, kConvertedInterval = 21;

bool IsUnsigned(const parquet::SchemaElement& element) {
  if (element.logical.kind == LogicalKind::kInteger) return !element.logical.is_signed;
  return element.converted_type >= kConvertedUint8 && element.converted_type <= kConvertedUint64;
}

/// Half precision to single precision, exactly.
float HalfToFloat(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000u) << 16, exponent = half >> 10 & 0x1f, fraction = half & 0x3ffu;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(fraction), -24);
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t biased = exponent == 31 ? 255 : exponent + 112;
  return std::bit_cast<float>(sign | biased << 23 | fraction << 13);
}

float LoadHalf(ByteView value) { return HalfToFloat(LoadLittle<std::uint16_t>(value.data())); }

template <class T>
int CompareAs(ByteView a, ByteView b) {
  const T x = LoadLittle<T>(a.data()), y = LoadLittle<T>(b.data());
  return x < y ? -1 : x > y ? 1 : 0;
}

int CompareBytes(ByteView a, ByteView b) {
  const std::size_t common = std::min(a.size(), b.size());
  const int difference = common == 0 ? 0 : std::memcmp(a.data(), b.data(), common);
  if (difference != 0) return difference;
  return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
}

/// Big-endian two's complement of any length.
int CompareDecimals(ByteView a, ByteView b) {
  const auto byte_at = [](ByteView value, std::size_t width, std::size_t i) -> std::uint8_t {
    const std::size_t padding = width - value.size();
    return i >= padding ? value[i - padding] : (value[0] & 0x80) != 0 ? 0xff : 0;
  };
  const std::size_t width = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < width; ++i) {
    // The sign bit of the first byte is flipped, so that negative values come first.
    const int flip = i == 0 ? 0x80 : 0;
    const int x = byte_at(a, width, i) ^ flip, y = byte_at(b, width, i) ^ flip;
    if (x != y) return x - y;
  }
  return 0;
}

ValueOrder OrderOfBytes(const parquet::SchemaElement& element) {
  switch (element.logical.kind) {
    case LogicalKind::kDecimal: return ValueOrder::kDecimalBytes;
    case LogicalKind::kFloat16: return element.type_length == 2 ? ValueOrder::kFloat16 : ValueOrder::kNone;
    case LogicalKind::kNone:
      if (element.converted_type == kConvertedDecimal) return ValueOrder::kDecimalBytes;
      return element.converted_type == kConvertedInterval ? ValueOrder::kNone : ValueOrder::kBytes;
    case LogicalKind::kString:
    case LogicalKind::kEnum:
    case LogicalKind::kJson:
    case LogicalKind::kBson:
    case LogicalKind::kUuid: return ValueOrder::kBytes;
    default: return ValueOrder::kNone;
  }
}

bool IsText(const parquet::SchemaElement& element) {
  const LogicalKind kind = element.logical.kind;
  return kind == LogicalKind::kString || kind == LogicalKind::kEnum || kind == LogicalKind::kJson ||
         (kind == LogicalKind::kNone && element.converted_type.has_value());
}

bool IsContinuation(std::uint8_t byte) { return (byte & 0xc0) == 0x80; }

/// Adds one to the last code point that stays valid UTF-8 of the same length when its last byte grows; cuts the rest.
bool IncrementText(Bytes& value) {
  while (!value.empty()) {
    std::size_t start = value.size() - 1;
    while (start > 0 && IsContinuation(value[start])) --start;
    std::uint8_t& last = value.back();
    const bool single = start + 1 == value.size();
    if (single ? last < 0x7f : last < 0xbf) {
      ++last;
      return true;
    }
    value.resize(start);
  }
  return false;
}

bool IncrementBytes(Bytes& value) {
  while (!value.empty() && value.back() == 0xff) value.pop_back();
  if (value.empty()) return false;
  ++value.back();
  return true;
}

}  // namespace

ValueOrder OrderOf(const parquet::SchemaElement& element) {
  if (!element.type) return ValueOrder::kNone;
  const bool is_unsigned = IsUnsigned(element);
  switch (*element.type) {
    case PhysicalType::kBoolean: return ValueOrder::kBoolean;
    case PhysicalType::kInt32: return is_unsigned ? ValueOrder::kUint32 : ValueOrder::kInt32;
    case PhysicalType::kInt64: return is_unsigned ? ValueOrder::kUint64 : ValueOrder::kInt64;
    case PhysicalType::kInt96: return ValueOrder::kNone;
    case PhysicalType::kFloat: return ValueOrder::kFloat;
    case PhysicalType::kDouble: return ValueOrder::kDouble;
    case PhysicalType::kByteArray:
    case PhysicalType::kFixedLenByteArray: return OrderOfBytes(element);
  }
  return ValueOrder::kNone;
}

bool IsOrdered(ValueOrder order, ByteView value, std::int32_t type_length) {
  switch (order) {
    case ValueOrder::kNone: return false;
    case ValueOrder::kBoolean: return value.size() == 1;
    case ValueOrder::kInt32:
    case ValueOrder::kUint32: return value.size() == 4;
    case ValueOrder::kInt64:
    case ValueOrder::kUint64: return value.size() == 8;
    case ValueOrder::kFloat: return value.size() == 4 && !std::isnan(LoadLittle<float>(value.data()));
    case ValueOrder::kDouble: return value.size() == 8 && !std::isnan(LoadLittle<double>(value.data()));
    case ValueOrder::kFloat16: return value.size() == 2 && !std::isnan(LoadHalf(value));
    case ValueOrder::kBytes: return true;
    case ValueOrder::kDecimalBytes:
      return !value.empty() && (type_length <= 0 || value.size() == static_cast<std::size_t>(type_length));
  }
  return false;
}

int CompareValues(ValueOrder order, ByteView a, ByteView b) {
  switch (order) {
    case ValueOrder::kNone: return 0;
    case ValueOrder::kBoolean: return CompareAs<std::uint8_t>(a, b);
    case ValueOrder::kInt32: return CompareAs<std::int32_t>(a, b);
    case ValueOrder::kInt64: return CompareAs<std::int64_t>(a, b);
    case ValueOrder::kUint32: return CompareAs<std::uint32_t>(a, b);
    case ValueOrder::kUint64: return CompareAs<std::uint64_t>(a, b);
    case ValueOrder::kFloat: return CompareAs<float>(a, b);
    case ValueOrder::kDouble: return CompareAs<double>(a, b);
    case ValueOrder::kFloat16: {
      const float x = LoadHalf(a), y = LoadHalf(b);
      return x < y ? -1 : x > y ? 1 : 0;
    }
    case ValueOrder::kBytes: return CompareBytes(a, b);
    case ValueOrder::kDecimalBytes: return CompareDecimals(a, b);
  }
  return 0;
}

void SetZeroSign(ValueOrder order, bool is_minimum, Bytes& value) {
  const std::size_t width = order == ValueOrder::kFloat     ? 4
                            : order == ValueOrder::kDouble  ? 8
                            : order == ValueOrder::kFloat16 ? 2
                                                            : 0;
  if (width == 0 || value.size() != width) return;
  const bool zero = (value.back() & 0x7f) == 0 &&
                    std::all_of(value.begin(), value.end() - 1, [](std::uint8_t byte) { return byte == 0; });
  if (zero) value.back() = is_minimum ? 0x80 : 0;
}

bool ShortenBound(const parquet::SchemaElement& element, ValueOrder order, bool is_minimum, std::size_t size_max,
                  Bytes& value) {
  if (order != ValueOrder::kBytes || element.type != PhysicalType::kByteArray || value.size() <= size_max) return false;
  std::size_t size = size_max;
  const bool text = IsText(element);
  if (text) {
    while (size > 0 && IsContinuation(value[size])) --size;
    if (size == 0) return false;
  }
  Bytes cut(value.begin(), value.begin() + static_cast<std::ptrdiff_t>(size));
  if (!is_minimum && !(text ? IncrementText(cut) : IncrementBytes(cut))) return false;
  value = std::move(cut);
  return true;
}

}  // namespace firn::splice
