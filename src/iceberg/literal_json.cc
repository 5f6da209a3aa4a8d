// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "base/byte_text.h"
#include "iceberg/calendar.h"
#include "iceberg/decimal_bytes.h"
#include "iceberg/literal.h"

namespace firn::iceberg {
namespace {

std::string LongJsonText(TypeKind kind, std::int64_t value) {
  switch (kind) {
    case TypeKind::kTime: return IsoTimeText(value);
    case TypeKind::kTimestamp: return IsoTimestampText(value, TimeUnit::kMicros);
    case TypeKind::kTimestampTz: return IsoTimestampText(value, TimeUnit::kMicros) + "+00:00";
    case TypeKind::kTimestampNs: return IsoTimestampText(value, TimeUnit::kNanos);
    case TypeKind::kTimestampTzNs: return IsoTimestampText(value, TimeUnit::kNanos) + "+00:00";
    default: return {};
  }
}

struct JsonWriter {
  const Type& type;

  json::Value operator()(std::monostate) const { return {}; }
  json::Value operator()(bool value) const { return json::Value(value); }
  json::Value operator()(std::int32_t value) const {
    return type.kind == TypeKind::kDate ? json::Value(IsoDateText(value)) : json::Value(value);
  }
  json::Value operator()(std::int64_t value) const {
    std::string text = LongJsonText(type.kind, value);
    return text.empty() ? json::Value(value) : json::Value(std::move(text));
  }
  json::Value operator()(float value) const {
    // Through its own shortest digits: 0.1f is 0.1, not 0.10000000149011612.
    if (!std::isfinite(value)) return {};
    std::string digits = ToText(type, Literal(value));
    return json::Value::Number(std::move(digits));
  }
  json::Value operator()(double value) const { return json::Value(value); }
  json::Value operator()(const std::string& value) const { return json::Value(value); }
  json::Value operator()(const Bytes& value) const {
    return json::Value(type.kind == TypeKind::kUuid ? UuidText(value) : HexText(value));
  }
  json::Value operator()(const Decimal& value) const {
    return json::Value(type.scale >= 0 ? PlainText(value, type.scale) : ScientificText(value, type.scale));
  }
};

Error NotA(const Type& type) {
  return {Code::kCorrupt, fmt::format("a JSON value is no value of type {}", ToString(type))};
}

template <class T>
Result<Literal> OrError(const Type& type, std::optional<T> value) {
  if (!value) return NotA(type);
  return Literal(std::move(*value));
}

Result<Literal> IntFromJson(const Type& type, const json::Value& value) {
  const auto wide = value.AsInt64();
  if (!wide || *wide != static_cast<std::int32_t>(*wide)) return NotA(type);
  return Literal(static_cast<std::int32_t>(*wide));
}

Result<Literal> FloatFromJson(const Type& type, const json::Value& value) {
  const auto number = value.AsDouble();
  if (!number) return NotA(type);
  if (type.kind == TypeKind::kDouble) return Literal(*number);
  if (std::fabs(*number) > static_cast<double>(std::numeric_limits<float>::max())) return NotA(type);
  return Literal(static_cast<float>(*number));
}

Result<Literal> TimestampFromText(const Type& type, std::string_view text) {
  const bool nanos = type.kind == TypeKind::kTimestampNs || type.kind == TypeKind::kTimestampTzNs;
  if (type.kind == TypeKind::kTimestampTz || type.kind == TypeKind::kTimestampTzNs) {
    if (text.ends_with("+00:00")) {
      text.remove_suffix(6);
    } else if (text.ends_with('Z')) {
      text.remove_suffix(1);
    } else {
      return NotA(type);
    }
  }
  return OrError(type, ParseTimestamp(text, nanos ? TimeUnit::kNanos : TimeUnit::kMicros));
}

Result<Literal> FromText(const Type& type, const std::string& text) {
  switch (type.kind) {
    case TypeKind::kString: return Literal(text);
    case TypeKind::kDate: return OrError(type, ParseDate(text));
    case TypeKind::kTime: return OrError(type, ParseTime(text));
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: return TimestampFromText(type, text);
    case TypeKind::kDecimal: return OrError(type, ParseDecimal(text, type.scale));
    case TypeKind::kUuid: return OrError(type, ParseUuid(text));
    case TypeKind::kBinary: return OrError(type, ParseHex(text));
    default: break;
  }
  const auto bytes = ParseHex(text);
  if (!bytes || bytes->size() != static_cast<std::size_t>(type.length)) return NotA(type);
  return Literal(*bytes);
}

}  // namespace

json::Value ToJson(const Type& type, const Literal& value) { return std::visit(JsonWriter{type}, value); }

Result<Literal> LiteralFromJson(const Type& type, const json::Value& value) {
  if (value.is_null()) return Literal();
  switch (type.kind) {
    case TypeKind::kBoolean: return OrError(type, value.AsBool());
    case TypeKind::kInt: return IntFromJson(type, value);
    case TypeKind::kLong: return OrError(type, value.AsInt64());
    case TypeKind::kFloat:
    case TypeKind::kDouble: return FloatFromJson(type, value);
    case TypeKind::kUnknown:
    case TypeKind::kVariant:
    case TypeKind::kGeometry:
    case TypeKind::kGeography:
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      return Error{Code::kUnsupported, fmt::format("a value of type {} other than null", ToString(type))};
    default: break;
  }
  if (!value.is_string()) return NotA(type);
  return FromText(type, *value.AsString());
}

}  // namespace firn::iceberg
