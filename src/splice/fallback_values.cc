// SPDX-License-Identifier: Apache-2.0
#include "splice/fallback_values.h"

#include <arrow/util/utf8.h>
#include <parquet/types.h>

#include <bit>
#include <cstring>

namespace firn::splice {

namespace {

using parquet::PhysicalType;
using parquet::Promotion;
using parquet::SchemaElement;

constexpr std::int64_t kMicrosPerDay = 86'400'000'000, kNanosPerDay = 86'400'000'000'000;
constexpr std::int64_t kJulianDayOfEpoch = 2'440'588;
constexpr std::int32_t kDecimalPrecisionMax = 38;
constexpr std::size_t kDecimalBytesMax = 16;

Error OutOfRange(const char* what) { return {Code::kCorrupt, std::string(what) + " out of the target's range"}; }

std::int64_t FloorDivide(std::int64_t value, std::int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

/// Scales every value of type From by `factor`.
template <class From>
Status Scale(const void* values, std::size_t count, std::int64_t factor, std::int64_t* out) {
  const auto* from = static_cast<const From*>(values);
  for (std::size_t i = 0; i < count; ++i) {
    if (__builtin_mul_overflow(std::int64_t{from[i]}, factor, &out[i])) return OutOfRange("a date or time");
  }
  return Ok();
}

Status FromInt96(const void* values, std::size_t count, bool nanos, std::int64_t* out) {
  const auto* from = static_cast<const ::parquet::Int96*>(values);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t days = std::int64_t{from[i].value[2]} - kJulianDayOfEpoch;
    std::int64_t of_day = 0;
    std::memcpy(&of_day, from[i].value.data(), sizeof of_day);
    std::int64_t base = 0;
    const bool overflow = __builtin_mul_overflow(days, nanos ? kNanosPerDay : kMicrosPerDay, &base);
    const std::int64_t part = nanos ? of_day : FloorDivide(of_day, 1000);
    if (overflow || __builtin_add_overflow(base, part, &out[i])) return OutOfRange("an INT96 timestamp");
  }
  return Ok();
}

Status CheckText(const void* values, std::size_t count) {
  const auto* from = static_cast<const ::parquet::ByteArray*>(values);
  for (std::size_t i = 0; i < count; ++i) {
    if (!::arrow::util::ValidateUTF8(from[i].ptr, from[i].len)) {
      return Error{Code::kCorrupt, "bytes that are no UTF-8, in a column without annotation that is to be text"};
    }
  }
  return Ok();
}

__int128 PowerOfTen(std::int32_t exponent) {
  __int128 power = 1;
  for (std::int32_t i = 0; i < exponent; ++i) power *= 10;
  return power;
}

/// Big-endian two's complement; false if it does not fit in 16 bytes.
bool LoadDecimal(const std::uint8_t* bytes, std::size_t size, __int128& value) {
  if (size == 0) return false;
  const std::uint8_t sign = bytes[0] >= 0x80 ? 0xff : 0;
  for (; size > kDecimalBytesMax; ++bytes, --size) {
    if (*bytes != sign) return false;
  }
  if ((bytes[0] >= 0x80) != (sign != 0)) return false;
  unsigned __int128 bits = sign != 0 ? ~static_cast<unsigned __int128>(0) : 0;
  for (std::size_t i = 0; i < size; ++i) bits = bits << 8 | bytes[i];
  value = static_cast<__int128>(bits);
  return true;
}

bool LoadDecimalOf(const SchemaElement& type, const void* values, std::size_t i, __int128& value) {
  switch (*type.type) {
    case PhysicalType::kInt32: value = static_cast<const std::int32_t*>(values)[i]; return true;
    case PhysicalType::kInt64: value = static_cast<const std::int64_t*>(values)[i]; return true;
    case PhysicalType::kFixedLenByteArray:
      return LoadDecimal(static_cast<const ::parquet::FLBA*>(values)[i].ptr, static_cast<std::size_t>(type.type_length),
                         value);
    case PhysicalType::kByteArray: {
      const ::parquet::ByteArray& bytes = static_cast<const ::parquet::ByteArray*>(values)[i];
      return LoadDecimal(bytes.ptr, bytes.len, value);
    }
    default: return false;
  }
}

void StoreDecimal(__int128 value, std::uint8_t* to, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t shift = 8 * (size - 1 - i);
    to[i] = static_cast<std::uint8_t>(shift >= 128 ? (value < 0 ? -1 : 0) : value >> shift);
  }
}

}  // namespace

Result<ValueConverter> ValueConverter::Make(const SchemaElement& from, const SchemaElement& to) {
  ValueConverter converter;
  FIRN_ASSIGN(converter.promotion_, parquet::PromotionOf(from, to));
  converter.from_ = from;
  converter.to_ = to;
  if (converter.promotion_ == Promotion::kBytesToText) ::arrow::util::InitializeUTF8();
  if (converter.promotion_ != Promotion::kDecimal) return converter;
  const std::int32_t precision = parquet::EffectiveLogicalType(to).precision;
  const bool narrow = to.type == PhysicalType::kByteArray;
  if (precision < 1 || precision > kDecimalPrecisionMax || narrow) {
    return Error{Code::kUnsupported, "decimals cannot become " + parquet::TypeText(to)};
  }
  converter.decimal_limit_ = PowerOfTen(precision);
  return converter;
}

Status ValueConverter::ConvertDecimals(const void* values, std::size_t count) {
  const bool fixed = to_.type == PhysicalType::kFixedLenByteArray;
  const std::size_t width = fixed ? static_cast<std::size_t>(to_.type_length) : 0;
  bytes_.resize(count * width);
  for (std::size_t i = 0; i < count; ++i) {
    __int128 value = 0;
    if (!LoadDecimalOf(from_, values, i, value) || value >= decimal_limit_ || value <= -decimal_limit_) {
      return OutOfRange("a decimal");
    }
    if (fixed) {
      std::uint8_t* const to = bytes_.data() + i * width;
      StoreDecimal(value, to, width);
      out_[i] = std::bit_cast<std::int64_t>(::parquet::FLBA(to));
    } else if (to_.type == PhysicalType::kInt64) {
      out_[i] = static_cast<std::int64_t>(value);
    } else {
      auto* const cells = reinterpret_cast<std::uint8_t*>(out_.data());
      StoreLittle(cells + i * sizeof(std::int32_t), static_cast<std::int32_t>(value));
    }
  }
  return Ok();
}

Result<const void*> ValueConverter::Convert(const void* values, std::size_t count) {
  if (promotion_ == Promotion::kNone) return values;
  if (promotion_ == Promotion::kBytesToText) {
    FIRN_TRY(CheckText(values, count));
    return values;
  }
  out_.resize(count);
  std::int64_t* const out = out_.data();
  switch (promotion_) {
    case Promotion::kNone:
    case Promotion::kBytesToText: break;
    case Promotion::kIntToLong: FIRN_TRY(Scale<std::int32_t>(values, count, 1, out)); break;
    case Promotion::kFloatToDouble:
      for (std::size_t i = 0; i < count; ++i) {
        out[i] = std::bit_cast<std::int64_t>(double{static_cast<const float*>(values)[i]});
      }
      break;
    case Promotion::kDecimal: FIRN_TRY(ConvertDecimals(values, count)); break;
    case Promotion::kDateToMicros: FIRN_TRY(Scale<std::int32_t>(values, count, kMicrosPerDay, out)); break;
    case Promotion::kDateToNanos: FIRN_TRY(Scale<std::int32_t>(values, count, kNanosPerDay, out)); break;
    case Promotion::kInt96ToMicros: FIRN_TRY(FromInt96(values, count, false, out)); break;
    case Promotion::kInt96ToNanos: FIRN_TRY(FromInt96(values, count, true, out)); break;
    case Promotion::kMillisToMicros: FIRN_TRY(Scale<std::int64_t>(values, count, 1'000, out)); break;
    case Promotion::kMillisToNanos: FIRN_TRY(Scale<std::int64_t>(values, count, 1'000'000, out)); break;
    case Promotion::kTimeMillisToMicros: FIRN_TRY(Scale<std::int32_t>(values, count, 1'000, out)); break;
  }
  return static_cast<const void*>(out);
}

Result<ConstantValues> ConstantValues::Make(const SchemaElement& element, Bytes plain, std::size_t count) {
  constexpr std::size_t kWidths[] = {1, 4, 8, 12, 4, 8, 0, 0};
  const PhysicalType type = *element.type;
  std::size_t width = kWidths[static_cast<std::size_t>(type)];
  if (type == PhysicalType::kFixedLenByteArray) width = static_cast<std::size_t>(element.type_length);
  if (type != PhysicalType::kByteArray && plain.size() != width) {
    return Error{Code::kInvalidArgument,
                 "a constant of " + std::to_string(plain.size()) + " bytes for " + parquet::TypeText(element)};
  }
  ConstantValues constant;
  constant.plain_ = std::move(plain);
  constant.cells_.resize(2 * count);  // ByteArray has 16 bytes, the rest less
  auto* const cells = reinterpret_cast<std::uint8_t*>(constant.cells_.data());
  const std::uint8_t* const bytes = constant.plain_.data();
  for (std::size_t i = 0; i < count; ++i) {
    if (type == PhysicalType::kByteArray) {
      const ::parquet::ByteArray value(static_cast<std::uint32_t>(constant.plain_.size()), bytes);
      std::memcpy(cells + i * sizeof value, &value, sizeof value);
    } else if (type == PhysicalType::kFixedLenByteArray) {
      const ::parquet::FLBA value(bytes);
      std::memcpy(cells + i * sizeof value, &value, sizeof value);
    } else {
      std::memcpy(cells + i * width, bytes, width);
    }
  }
  return constant;
}

}  // namespace firn::splice
