// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/promotion.h"

#include <optional>

namespace firn::parquet {

namespace {

// ConvertedType of parquet.thrift.
enum Converted : std::int32_t {
  kUtf8 = 0,
  kMap = 1,
  kMapKeyValue = 2,
  kList = 3,
  kEnum = 4,
  kDecimalConverted = 5,
  kDate = 6,
  kTimeMillis = 7,
  kTimeMicros = 8,
  kTimestampMillis = 9,
  kTimestampMicros = 10,
  kUint8 = 11,
  kUint64 = 14,
  kInt8 = 15,
  kInt64 = 18,
  kJson = 19,
  kBson = 20,
  kInterval = 21,
};

LogicalType OfKind(LogicalKind kind) {
  LogicalType type;
  type.kind = kind;
  return type;
}

LogicalType Timed(LogicalKind kind, TimeUnit unit) {
  LogicalType type = OfKind(kind);
  type.unit = unit;
  type.adjusted_to_utc = true;
  return type;
}

LogicalType IntegerOf(std::int32_t converted) {
  LogicalType type = OfKind(LogicalKind::kInteger);
  type.is_signed = converted >= kInt8;
  type.bit_width = static_cast<std::int8_t>(8 << (converted - (type.is_signed ? kInt8 : kUint8)));
  return type;
}

/// Types whose values are UTF-8. Readers may refuse a whole file for a value that is not.
bool IsText(LogicalKind kind) {
  return kind == LogicalKind::kString || kind == LogicalKind::kEnum || kind == LogicalKind::kJson;
}

/// A type whose values are the stored bytes with no further meaning than the annotation's name.
bool IsTextOrBytes(LogicalKind kind) {
  return IsText(kind) || kind == LogicalKind::kNone || kind == LogicalKind::kBson;
}

bool IsUuidOrBytes(const SchemaElement& element, LogicalKind kind) {
  return element.type == PhysicalType::kFixedLenByteArray && element.type_length == 16 &&
         (kind == LogicalKind::kNone || kind == LogicalKind::kUuid);
}

bool IsPlainInteger(const LogicalType& type) {
  if (type.kind == LogicalKind::kNone) return true;
  return type.kind == LogicalKind::kInteger && (type.is_signed || type.bit_width < 32);
}

/// Whether every integer of `a` is one of `b`; without annotation they are signed and as wide as the storage.
bool Fits(const SchemaElement& from, LogicalType a, const SchemaElement& to, LogicalType b) {
  const auto plain = [](const SchemaElement& element, LogicalType& type) {
    if (type.kind == LogicalKind::kInteger) return;
    type.bit_width = element.type == PhysicalType::kInt32 ? 32 : 64;
    type.is_signed = true;
  };
  plain(from, a);
  plain(to, b);
  if (a.is_signed == b.is_signed) return a.bit_width <= b.bit_width;
  return !a.is_signed && a.bit_width < b.bit_width;
}

/// Types that may differ in annotation and still hold the same values.
bool SameMeaning(const SchemaElement& from, const LogicalType& a, const SchemaElement& to, const LogicalType& b) {
  switch (*from.type) {
    case PhysicalType::kByteArray:
      if (b.kind == LogicalKind::kNone) return IsTextOrBytes(a.kind);
      if (b.kind == LogicalKind::kString) return IsText(a.kind);
      break;
    case PhysicalType::kInt32:
    case PhysicalType::kInt64:
      if (IsPlainInteger(a) && IsPlainInteger(b)) return Fits(from, a, to, b);
      break;
    case PhysicalType::kFixedLenByteArray:
      if (IsUuidOrBytes(from, a.kind) && IsUuidOrBytes(to, b.kind)) return true;
      break;
    default: break;
  }
  if (a.kind == LogicalKind::kTimestamp || a.kind == LogicalKind::kTime) {
    const bool zone_known = from.logical.kind != LogicalKind::kNone;
    return a.kind == b.kind && a.unit == b.unit &&
           (a.adjusted_to_utc == b.adjusted_to_utc || !zone_known || a.kind == LogicalKind::kTime);
  }
  if (a.kind == LogicalKind::kDecimal) {
    return b.kind == a.kind && a.scale == b.scale && a.precision <= b.precision;
  }
  return a == b;
}

bool SamePhysical(const SchemaElement& a, const SchemaElement& b) {
  return a.type == b.type && (a.type != PhysicalType::kFixedLenByteArray || a.type_length == b.type_length);
}

std::optional<Promotion> ToTimestamp(const SchemaElement& from, const LogicalType& a, const LogicalType& b) {
  const bool micros = b.unit == TimeUnit::kMicros;
  if (!micros && b.unit != TimeUnit::kNanos) return std::nullopt;
  if (from.type == PhysicalType::kInt96) return micros ? Promotion::kInt96ToMicros : Promotion::kInt96ToNanos;
  if (from.type == PhysicalType::kInt32 && a.kind == LogicalKind::kDate && !b.adjusted_to_utc) {
    return micros ? Promotion::kDateToMicros : Promotion::kDateToNanos;
  }
  const bool millis =
      from.type == PhysicalType::kInt64 && a.kind == LogicalKind::kTimestamp && a.unit == TimeUnit::kMillis;
  const bool zone_known = from.logical.kind != LogicalKind::kNone;
  if (!millis || (zone_known && a.adjusted_to_utc != b.adjusted_to_utc)) return std::nullopt;
  return micros ? Promotion::kMillisToMicros : Promotion::kMillisToNanos;
}

std::optional<Promotion> Find(const SchemaElement& from, const SchemaElement& to) {
  const LogicalType a = EffectiveLogicalType(from), b = EffectiveLogicalType(to);
  if (SamePhysical(from, to) && SameMeaning(from, a, to, b)) return Promotion::kNone;
  if (from.type == PhysicalType::kByteArray && to.type == from.type && a.kind == LogicalKind::kNone &&
      b.kind == LogicalKind::kString) {
    return Promotion::kBytesToText;
  }
  if (a.kind == LogicalKind::kDecimal && b.kind == LogicalKind::kDecimal && a.scale == b.scale &&
      a.precision <= b.precision) {
    return Promotion::kDecimal;
  }
  if (to.type == PhysicalType::kInt64 && b.kind == LogicalKind::kTimestamp) return ToTimestamp(from, a, b);
  if (from.type == PhysicalType::kInt32 && to.type == PhysicalType::kInt64) {
    if (IsPlainInteger(a) && IsPlainInteger(b) && Fits(from, a, to, b)) return Promotion::kIntToLong;
    if (a.kind == LogicalKind::kTime && b.kind == LogicalKind::kTime && a.unit == TimeUnit::kMillis &&
        b.unit == TimeUnit::kMicros) {
      return Promotion::kTimeMillisToMicros;
    }
  }
  if (from.type == PhysicalType::kFloat && to.type == PhysicalType::kDouble && a.kind == LogicalKind::kNone &&
      b.kind == LogicalKind::kNone) {
    return Promotion::kFloatToDouble;
  }
  return std::nullopt;
}

std::string_view PhysicalName(PhysicalType type) {
  constexpr std::string_view kNames[] = {"boolean", "int32",  "int64",      "int96",
                                         "float",   "double", "byte array", "fixed"};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(kNames) ? kNames[index] : "unknown type";
}

std::string LogicalText(const LogicalType& type) {
  constexpr std::string_view kNames[] = {"",        "string",    "map",      "list",      "enum", "decimal", "date",
                                         "time",    "timestamp", "integer",  "unknown",   "json", "bson",    "uuid",
                                         "float16", "variant",   "geometry", "geography", "other"};
  constexpr std::string_view kUnits[] = {"", " millis", " micros", " nanos"};
  std::string text(kNames[static_cast<std::size_t>(type.kind)]);
  text += kUnits[static_cast<std::size_t>(type.unit)];
  if (type.kind == LogicalKind::kTimestamp) text += type.adjusted_to_utc ? ", utc" : ", local";
  if (type.kind == LogicalKind::kDecimal) {
    text += " " + std::to_string(type.precision) + "," + std::to_string(type.scale);
  }
  if (type.kind == LogicalKind::kInteger) {
    text += " " + std::to_string(type.bit_width) + (type.is_signed ? "" : ", unsigned");
  }
  return text;
}

}  // namespace

LogicalType EffectiveLogicalType(const SchemaElement& element) {
  if (element.logical.kind != LogicalKind::kNone || !element.converted_type) return element.logical;
  const std::int32_t converted = *element.converted_type;
  if (converted >= kUint8 && converted <= kInt64) return IntegerOf(converted);
  switch (converted) {
    case kUtf8: return OfKind(LogicalKind::kString);
    case kMap:
    case kMapKeyValue: return OfKind(LogicalKind::kMap);
    case kList: return OfKind(LogicalKind::kList);
    case kEnum: return OfKind(LogicalKind::kEnum);
    case kDate: return OfKind(LogicalKind::kDate);
    case kTimeMillis: return Timed(LogicalKind::kTime, TimeUnit::kMillis);
    case kTimeMicros: return Timed(LogicalKind::kTime, TimeUnit::kMicros);
    case kTimestampMillis: return Timed(LogicalKind::kTimestamp, TimeUnit::kMillis);
    case kTimestampMicros: return Timed(LogicalKind::kTimestamp, TimeUnit::kMicros);
    case kJson: return OfKind(LogicalKind::kJson);
    case kBson: return OfKind(LogicalKind::kBson);
    case kDecimalConverted: {
      LogicalType type = OfKind(LogicalKind::kDecimal);
      type.precision = element.precision;
      type.scale = element.scale;
      return type;
    }
    default: return OfKind(LogicalKind::kOther);
  }
}

bool WidenAnnotation(SchemaElement& element, const SchemaElement& other) {
  if (!element.type || !SamePhysical(element, other)) return false;
  const LogicalKind a = EffectiveLogicalType(element).kind, b = EffectiveLogicalType(other).kind;
  const bool bytes = element.type == PhysicalType::kByteArray && IsTextOrBytes(a) && IsTextOrBytes(b);
  if (a == b || !(bytes || (IsUuidOrBytes(element, a) && IsUuidOrBytes(other, b)))) return false;
  const bool text = IsText(a) && IsText(b);
  if (a == (text ? LogicalKind::kString : LogicalKind::kNone)) return false;
  element.logical = OfKind(text ? LogicalKind::kString : LogicalKind::kNone);
  element.converted_type.reset();
  if (text) element.converted_type = kUtf8;
  return true;
}

Result<Promotion> PromotionOf(const SchemaElement& from, const SchemaElement& to) {
  if (from.type && to.type) {
    if (const std::optional<Promotion> found = Find(from, to)) return *found;
  }
  return Error{Code::kUnsupported, TypeText(from) + " cannot become " + TypeText(to)};
}

std::string TypeText(const SchemaElement& element) {
  std::string text = element.type ? std::string(PhysicalName(*element.type)) : "group";
  if (element.type == PhysicalType::kFixedLenByteArray) text += "[" + std::to_string(element.type_length) + "]";
  const std::string logical = LogicalText(EffectiveLogicalType(element));
  return logical.empty() ? text : text + " (" + logical + ")";
}

}  // namespace firn::parquet
