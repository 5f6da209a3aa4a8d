// SPDX-License-Identifier: Apache-2.0
#include "iceberg/types.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"
#include "base/text_parts.h"

namespace firn::iceberg {
namespace {

struct PlainName {
  std::string_view name;
  TypeKind kind;
};

/// Types whose name says everything.
constexpr std::array kPlainNames = {
    PlainName{"boolean", TypeKind::kBoolean},
    PlainName{"int", TypeKind::kInt},
    PlainName{"long", TypeKind::kLong},
    PlainName{"float", TypeKind::kFloat},
    PlainName{"double", TypeKind::kDouble},
    PlainName{"date", TypeKind::kDate},
    PlainName{"time", TypeKind::kTime},
    PlainName{"timestamp", TypeKind::kTimestamp},
    PlainName{"timestamptz", TypeKind::kTimestampTz},
    PlainName{"timestamp_ns", TypeKind::kTimestampNs},
    PlainName{"timestamptz_ns", TypeKind::kTimestampTzNs},
    PlainName{"string", TypeKind::kString},
    PlainName{"uuid", TypeKind::kUuid},
    PlainName{"binary", TypeKind::kBinary},
    PlainName{"unknown", TypeKind::kUnknown},
    PlainName{"variant", TypeKind::kVariant},
    PlainName{"geometry", TypeKind::kGeometry},
    PlainName{"geography", TypeKind::kGeography},
};

constexpr std::int32_t kDecimalPrecisionMax = 38;

std::optional<std::int32_t> ParseCount(std::string_view text) {
  text = Trimmed(text);
  std::int32_t number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || stop != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

/// The text between `open` right after `name` (blanks allowed) and `close` at the end.
std::optional<std::string_view> Argument(std::string_view text, std::string_view name, char open, char close) {
  if (!text.starts_with(name)) return std::nullopt;
  text = Trimmed(text.substr(name.size()));
  if (text.size() < 2 || text.front() != open || text.back() != close) return std::nullopt;
  return text.substr(1, text.size() - 2);
}

Error BadParameters(std::string_view text) {
  return {Code::kCorrupt, fmt::format("type `{}` has impossible parameters", text.substr(0, 80))};
}

Result<Type> MakeDecimal(std::string_view text, std::string_view arguments) {
  const auto comma = arguments.find(',');
  if (comma == arguments.npos) return BadParameters(text);
  const auto precision = ParseCount(arguments.substr(0, comma));
  const auto scale = ParseCount(arguments.substr(comma + 1));
  if (!precision || !scale || *precision < 1 || *precision > kDecimalPrecisionMax || *scale > kDecimalPrecisionMax) {
    return BadParameters(text);
  }
  Type type{.kind = TypeKind::kDecimal};
  type.precision = *precision;
  type.scale = *scale;
  return type;
}

Result<Type> MakeFixed(std::string_view text, std::string_view arguments) {
  const auto length = ParseCount(arguments);
  if (!length || *length < 1) return BadParameters(text);
  Type type{.kind = TypeKind::kFixed};
  type.length = *length;
  return type;
}

std::string StructText(const Type& type) {
  std::string text = "struct<";
  for (const Field& field : *type.fields) {
    if (&field != &type.fields->front()) text += ", ";
    text += fmt::format("{}: {}: {} {}", field.id, field.name, field.required ? "required" : "optional",
                        ToString(field.type));
  }
  return text + ">";
}

bool SameField(const Field& a, const Field& b) {
  return a.id == b.id && a.name == b.name && a.required == b.required && a.type == b.type &&
         a.initial_default == b.initial_default && a.write_default == b.write_default;
}

}  // namespace

bool operator==(const Type& a, const Type& b) {
  if (a.kind != b.kind || a.precision != b.precision || a.scale != b.scale || a.length != b.length ||
      a.parameters != b.parameters) {
    return false;
  }
  if (a.fields == b.fields) return true;
  if (!a.fields || !b.fields) return false;
  return std::equal(a.fields->begin(), a.fields->end(), b.fields->begin(), b.fields->end(), SameField);
}

std::string ToString(const Type& type) {
  switch (type.kind) {
    case TypeKind::kDecimal: return fmt::format("decimal({},{})", type.precision, type.scale);
    case TypeKind::kFixed: return fmt::format("fixed[{}]", type.length);
    case TypeKind::kStruct: return StructText(type);
    case TypeKind::kList: return fmt::format("list<{}>", ToString((*type.fields)[0].type));
    case TypeKind::kMap:
      return fmt::format("map<{}, {}>", ToString((*type.fields)[0].type), ToString((*type.fields)[1].type));
    default: break;
  }
  const auto plain = std::find_if(kPlainNames.begin(), kPlainNames.end(),
                                  [&type](const PlainName& name) { return name.kind == type.kind; });
  if (type.parameters.empty()) return std::string(plain->name);
  return fmt::format("{}({})", plain->name, type.parameters);
}

Result<Type> ParsePrimitive(std::string_view text) {
  const std::string_view trimmed = Trimmed(text);
  const std::string lower = AsciiLower(trimmed);
  const auto plain = std::find_if(kPlainNames.begin(), kPlainNames.end(),
                                  [&lower](const PlainName& name) { return name.name == lower; });
  if (plain != kPlainNames.end()) return Type{.kind = plain->kind};
  if (const auto arguments = Argument(trimmed, "decimal", '(', ')')) return MakeDecimal(text, *arguments);
  if (const auto arguments = Argument(trimmed, "fixed", '[', ']')) return MakeFixed(text, *arguments);
  for (const TypeKind kind : {TypeKind::kGeometry, TypeKind::kGeography}) {
    const std::string_view name = kind == TypeKind::kGeometry ? "geometry" : "geography";
    if (const auto arguments = Argument(trimmed, name, '(', ')')) {
      Type type{.kind = kind};
      type.parameters = *arguments;
      return type;
    }
  }
  return Error{Code::kUnsupported, fmt::format("type `{}` is not known to this version", text.substr(0, 80))};
}

}  // namespace firn::iceberg
