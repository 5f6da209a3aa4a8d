// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "iceberg/bucket_hash.h"
#include "iceberg/calendar.h"
#include "iceberg/partition_spec.h"
#include "iceberg/utf8.h"

namespace firn::iceberg {
namespace {

Error Mismatch(const Transform& transform, const Type& source) {
  return {Code::kInvalidArgument,
          fmt::format("transform {} cannot be applied to {}", transform.text, ToString(source))};
}

bool IsTimestamp(TypeKind kind) {
  return kind == TypeKind::kTimestamp || kind == TypeKind::kTimestampTz || kind == TypeKind::kTimestampNs ||
         kind == TypeKind::kTimestampTzNs;
}

std::int64_t UnitsPerSecondOf(TypeKind kind) {
  const bool nanos = kind == TypeKind::kTimestampNs || kind == TypeKind::kTimestampTzNs;
  return UnitsPerSecond(nanos ? TimeUnit::kNanos : TimeUnit::kMicros);
}

bool CanBucket(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInt:
    case TypeKind::kLong:
    case TypeKind::kDecimal:
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampTz:
    case TypeKind::kTimestampNs:
    case TypeKind::kTimestampTzNs:
    case TypeKind::kString:
    case TypeKind::kUuid:
    case TypeKind::kFixed:
    case TypeKind::kBinary: return true;
    default: return false;
  }
}

Result<Literal> Bucket(const Transform& transform, const Type& source, const Literal& value) {
  if (!CanBucket(source.kind)) return Mismatch(transform, source);
  const auto hash = BucketHash(source, value);
  if (!hash) return Mismatch(transform, source);
  return Literal((*hash & 0x7fffffff) % transform.parameter);
}

/// `value` minus its non-negative remainder, wrapping below the smallest value as Java does.
template <class T, class Unsigned>
T FloorToWidth(T value, T width) {
  T remainder = value % width;
  if (remainder < 0) remainder += width;
  return static_cast<T>(static_cast<Unsigned>(value) - static_cast<Unsigned>(remainder));
}

Result<Literal> Truncate(const Transform& transform, const Type& source, const Literal& value) {
  const std::int32_t width = transform.parameter;
  switch (source.kind) {
    case TypeKind::kInt:
      if (const auto* v = std::get_if<std::int32_t>(&value)) {
        return Literal(FloorToWidth<std::int32_t, std::uint32_t>(*v, width));
      }
      break;
    case TypeKind::kLong:
      if (const auto* v = std::get_if<std::int64_t>(&value)) {
        return Literal(FloorToWidth<std::int64_t, std::uint64_t>(*v, width));
      }
      break;
    case TypeKind::kDecimal:
      if (const auto* v = std::get_if<Decimal>(&value)) {
        return Literal(Decimal{FloorToWidth<__int128, unsigned __int128>(v->unscaled, width)});
      }
      break;
    case TypeKind::kString:
      if (const auto* v = std::get_if<std::string>(&value)) return Literal(v->substr(0, PrefixBytes(*v, width)));
      break;
    case TypeKind::kBinary:
      if (const auto* v = std::get_if<Bytes>(&value)) {
        const std::size_t size = std::min(v->size(), static_cast<std::size_t>(width));
        return Literal(Bytes(v->begin(), v->begin() + static_cast<std::ptrdiff_t>(size)));
      }
      break;
    default: break;
  }
  return Mismatch(transform, source);
}

/// Years, months or days since 1970 of a day.
std::int32_t DateOrdinal(TransformKind kind, std::int64_t days) {
  if (kind == TransformKind::kDay) return static_cast<std::int32_t>(days);
  const CivilDate date = CivilFromDays(days);
  const std::int64_t years = date.year - 1970;
  return static_cast<std::int32_t>(kind == TransformKind::kYear ? years : years * 12 + date.month - 1);
}

Result<Literal> TimePart(const Transform& transform, const Type& source, const Literal& value) {
  if (source.kind == TypeKind::kDate && transform.kind != TransformKind::kHour) {
    if (const auto* days = std::get_if<std::int32_t>(&value)) return Literal(DateOrdinal(transform.kind, *days));
  }
  const auto* units = std::get_if<std::int64_t>(&value);
  if (!IsTimestamp(source.kind) || units == nullptr) return Mismatch(transform, source);
  const std::int64_t seconds = FloorDivide(*units, UnitsPerSecondOf(source.kind));
  if (transform.kind == TransformKind::kHour) {
    const std::int64_t hours = FloorDivide(seconds, 3600);
    if (hours != static_cast<std::int32_t>(hours)) {
      return Error{Code::kUnsupported, fmt::format("hour {} does not fit in an int", hours)};
    }
    return Literal(static_cast<std::int32_t>(hours));
  }
  return Literal(DateOrdinal(transform.kind, FloorDivide(seconds, kSecondsPerDay)));
}

}  // namespace

Type ResultType(const Transform& transform, const Type& source) {
  switch (transform.kind) {
    case TransformKind::kIdentity:
    case TransformKind::kTruncate:
    case TransformKind::kVoid: return source;
    case TransformKind::kBucket:
    case TransformKind::kYear:
    case TransformKind::kMonth:
    case TransformKind::kHour: return Type{.kind = TypeKind::kInt};
    case TransformKind::kDay: return Type{.kind = TypeKind::kDate};
    case TransformKind::kUnknown: break;
  }
  return Type{.kind = TypeKind::kString};
}

Result<Literal> Apply(const Transform& transform, const Type& source, const Literal& value) {
  if (transform.kind == TransformKind::kUnknown) {
    return Error{Code::kUnsupported,
                 fmt::format("transform `{}` is not known to this version", transform.text.substr(0, 80))};
  }
  if (IsNull(value) || transform.kind == TransformKind::kVoid) return Literal();
  switch (transform.kind) {
    case TransformKind::kIdentity: return value;
    case TransformKind::kBucket: return Bucket(transform, source, value);
    case TransformKind::kTruncate: return Truncate(transform, source, value);
    default: return TimePart(transform, source, value);
  }
}

}  // namespace firn::iceberg
