// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/byte_text.h"
#include "iceberg/calendar.h"
#include "iceberg/decimal_bytes.h"
#include "iceberg/literal.h"

namespace firn::iceberg {
namespace {

/// A floating-point number as Java's toString prints it: partition paths of Java writers hold this text.
template <class T>
std::string JavaFloatText(T value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  char shortest[64];
  const T magnitude = std::fabs(value);
  const bool plain = magnitude >= static_cast<T>(1e-3) && magnitude < static_cast<T>(1e7);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  const auto end = std::to_chars(shortest, shortest + sizeof shortest, value, format).ptr;
  std::string text(shortest, end);
  if (plain) return text.find('.') == text.npos ? text + ".0" : text;
  if (text.find('.') == text.npos) {  // one digit: Java takes the nearest number of two digits
    text.assign(shortest, std::to_chars(shortest, shortest + sizeof shortest, value, format, 1).ptr);
  }
  const auto mark = text.find('e');
  int exponent = 0;
  const char* digits = text.data() + mark + (text[mark + 1] == '+' ? 2 : 1);
  std::from_chars(digits, text.data() + text.size(), exponent);
  return fmt::format("{}E{}", std::string_view(text).substr(0, mark), exponent);
}

std::string LongText(TypeKind kind, std::int64_t value) {
  switch (kind) {
    case TypeKind::kTime: return ShortTimeText(value);
    case TypeKind::kTimestamp: return ShortTimestampText(value, TimeUnit::kMicros);
    case TypeKind::kTimestampTz: return ShortTimestampText(value, TimeUnit::kMicros) + "+00:00";
    case TypeKind::kTimestampNs: return ShortTimestampText(value, TimeUnit::kNanos);
    case TypeKind::kTimestampTzNs: return ShortTimestampText(value, TimeUnit::kNanos) + "+00:00";
    default: return fmt::format("{}", value);
  }
}

struct Printer {
  const Type& type;

  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int32_t value) const {
    return type.kind == TypeKind::kDate ? DateText(value) : fmt::format("{}", value);
  }
  std::string operator()(std::int64_t value) const { return LongText(type.kind, value); }
  std::string operator()(float value) const { return JavaFloatText(value); }
  std::string operator()(double value) const { return JavaFloatText(value); }
  std::string operator()(const std::string& value) const { return value; }
  std::string operator()(const Bytes& value) const {
    return type.kind == TypeKind::kUuid ? UuidText(value) : Base64Text(value);
  }
  std::string operator()(const Decimal& value) const { return ScientificText(value, type.scale); }
};

}  // namespace

std::string ToText(const Type& type, const Literal& value) { return std::visit(Printer{type}, value); }

}  // namespace firn::iceberg
