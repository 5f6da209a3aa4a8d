// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "base/ascii.h"
#include "iceberg/calendar.h"
#include "iceberg/partition_spec.h"

namespace firn::iceberg {
namespace {

struct PlainTransform {
  std::string_view name;
  TransformKind kind;
};

constexpr std::array kPlainTransforms = {
    PlainTransform{"identity", TransformKind::kIdentity}, PlainTransform{"year", TransformKind::kYear},
    PlainTransform{"month", TransformKind::kMonth},       PlainTransform{"day", TransformKind::kDay},
    PlainTransform{"hour", TransformKind::kHour},         PlainTransform{"void", TransformKind::kVoid},
};

/// The number between brackets at the end: a width or a count of buckets, at least 1.
std::optional<std::int32_t> Parameter(std::string_view text, std::string_view name) {
  if (!text.starts_with(name)) return std::nullopt;
  text.remove_prefix(name.size());
  if (text.size() < 3 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::int32_t number = 0;
  const auto [stop, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc() || stop != text.data() + text.size() || number < 1) return std::nullopt;
  return number;
}

std::string MonthText(std::int64_t months) {
  return fmt::format("{:04}-{:02}", 1970 + FloorDivide(months, 12), FloorRemainder(months, 12) + 1);
}

std::string HourText(std::int64_t hours) {
  return fmt::format("{}-{:02}", DateText(FloorDivide(hours, 24)), FloorRemainder(hours, 24));
}

}  // namespace

Transform ParseTransform(std::string_view text) {
  Transform transform;
  transform.text = text;
  const std::string lower = AsciiLower(text);
  for (const PlainTransform& plain : kPlainTransforms) {
    if (plain.name == lower) transform.kind = plain.kind;
  }
  if (const auto buckets = Parameter(lower, "bucket")) {
    transform.kind = TransformKind::kBucket;
    transform.parameter = *buckets;
  } else if (const auto width = Parameter(lower, "truncate")) {
    transform.kind = TransformKind::kTruncate;
    transform.parameter = *width;
  }
  return transform;
}

std::string ToHumanText(const Transform& transform, const Type& source, const Literal& value) {
  const Type result = ResultType(transform, source);
  const auto* ordinal = std::get_if<std::int32_t>(&value);
  if (ordinal == nullptr) return ToText(result, value);
  switch (transform.kind) {
    case TransformKind::kYear: return fmt::format("{:04}", std::int64_t{1970} + *ordinal);
    case TransformKind::kMonth: return MonthText(*ordinal);
    case TransformKind::kDay: return DateText(*ordinal);
    case TransformKind::kHour: return HourText(*ordinal);
    default: return ToText(result, value);
  }
}

}  // namespace firn::iceberg
