// SPDX-License-Identifier: Apache-2.0
#include "decide/typed_literal.h"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "iceberg/calendar.h"
#include "iceberg/decimal_bytes.h"

namespace firn::decide {
namespace {

using iceberg::Literal;
using iceberg::Type;
using iceberg::TypeKind;

Error NotA(const WhereLiteral& literal, const Type& type) {
  const bool quoted = literal.kind == WhereLiteral::Kind::kString;
  return {Code::kInvalidArgument, fmt::format("{}{}{} is not a value of type {}", quoted ? "'" : "", literal.text,
                                              quoted ? "'" : "", iceberg::ToString(type))};
}

bool HasZone(TypeKind kind) { return kind == TypeKind::kTimestampTz || kind == TypeKind::kTimestampTzNs; }

/// Cuts "Z", "+01:30" or "-08" from the end of a time of day; minutes east of UTC.
std::optional<std::int64_t> CutOffset(std::string_view& text) {
  if (text.ends_with('Z') || text.ends_with('z')) {
    text.remove_suffix(1);
    return 0;
  }
  const auto clock = text.find_first_of("T ");
  const auto sign = clock == std::string_view::npos ? clock : text.find_first_of("+-", clock);
  if (sign == std::string_view::npos) return std::nullopt;
  std::string offset(text.substr(sign + 1));
  if (offset.size() == 2) offset += ":00";
  const auto micros = iceberg::ParseTime(offset);
  if (!micros) return std::nullopt;
  const std::int64_t minutes = *micros / 60'000'000;
  const bool east = text[sign] == '+';
  text = text.substr(0, sign);
  return east ? minutes : -minutes;
}

std::optional<Literal> ParseTimestampText(std::string_view text, const Type& type) {
  const bool nanos = type.kind == TypeKind::kTimestampNs || type.kind == TypeKind::kTimestampTzNs;
  const auto unit = nanos ? iceberg::TimeUnit::kNanos : iceberg::TimeUnit::kMicros;
  const auto offset = CutOffset(text);
  if (offset && !HasZone(type.kind)) return std::nullopt;
  while (text.ends_with(' ')) text.remove_suffix(1);
  std::string iso(text);
  const auto space = iso.find_first_of(" T");
  if (space == std::string::npos) {
    iso += "T00:00";
  } else {
    iso[space] = 'T';
  }
  const auto value = iceberg::ParseTimestamp(iso, unit);
  if (!value) return std::nullopt;
  const __int128 utc =
      static_cast<__int128>(*value) - static_cast<__int128>(offset.value_or(0)) * 60 * iceberg::UnitsPerSecond(unit);
  if (utc != static_cast<std::int64_t>(utc)) return std::nullopt;
  return Literal(static_cast<std::int64_t>(utc));
}

std::optional<Literal> FromJson(const Type& type, const json::Value& value) {
  auto literal = iceberg::LiteralFromJson(type, value);
  if (!literal) return std::nullopt;
  return std::move(*literal);
}

std::optional<Literal> Numeric(const WhereLiteral& literal, const Type& type) {
  if (type.kind == TypeKind::kFloat || type.kind == TypeKind::kDouble) {
    auto number = json::Parse(literal.text.starts_with('+') ? literal.text.substr(1) : literal.text);
    return number ? FromJson(type, *number) : std::nullopt;
  }
  const std::int32_t scale = type.kind == TypeKind::kDecimal ? type.scale : 0;
  const auto decimal = iceberg::ParseDecimal(literal.text, scale);
  if (!decimal) return std::nullopt;
  const __int128 value = decimal->unscaled;
  switch (type.kind) {
    case TypeKind::kDecimal: return Literal(*decimal);
    case TypeKind::kInt:
      if (value != static_cast<std::int32_t>(value)) return std::nullopt;
      return Literal(static_cast<std::int32_t>(value));
    case TypeKind::kLong:
      if (value != static_cast<std::int64_t>(value)) return std::nullopt;
      return Literal(static_cast<std::int64_t>(value));
    default: return std::nullopt;
  }
}

std::optional<Literal> Textual(const WhereLiteral& literal, const Type& type) {
  switch (type.kind) {
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs: return ParseTimestampText(literal.text, type);
    case TypeKind::kString:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kUuid: return FromJson(type, json::Value(literal.text));
    default: return std::nullopt;
  }
}

template <class Number>
std::optional<Literal> Step(Number value, int step) {
  if (step < 0 ? value == std::numeric_limits<Number>::min() : value == std::numeric_limits<Number>::max()) {
    return std::nullopt;
  }
  return Literal(static_cast<Number>(value + step));
}

std::optional<Literal> Neighbour(const Literal& value, int step) {
  if (const auto* narrow = std::get_if<std::int32_t>(&value)) return Step(*narrow, step);
  if (const auto* wide = std::get_if<std::int64_t>(&value)) return Step(*wide, step);
  if (const auto* decimal = std::get_if<iceberg::Decimal>(&value)) {
    return Literal(iceberg::Decimal{decimal->unscaled + step});
  }
  return std::nullopt;
}

}  // namespace

Result<Literal> TypeLiteral(const WhereLiteral& literal, const Type& type) {
  std::optional<Literal> typed;
  switch (literal.kind) {
    case WhereLiteral::Kind::kNumber: typed = Numeric(literal, type); break;
    case WhereLiteral::Kind::kString: typed = Textual(literal, type); break;
    case WhereLiteral::Kind::kBool:
      if (type.kind == TypeKind::kBoolean) typed = Literal(literal.text == "true");
      break;
    case WhereLiteral::Kind::kHex:
      if (type.kind == TypeKind::kBinary || type.kind == TypeKind::kFixed) {
        typed = FromJson(type, json::Value(literal.text));
      }
      break;
  }
  if (!typed) return NotA(literal, type);
  return std::move(*typed);
}

std::optional<Literal> Before(const Literal& value) { return Neighbour(value, -1); }
std::optional<Literal> After(const Literal& value) { return Neighbour(value, 1); }

}  // namespace firn::decide
