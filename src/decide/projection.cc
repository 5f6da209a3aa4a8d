// SPDX-License-Identifier: Apache-2.0
#include "decide/projection.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "decide/typed_literal.h"

namespace firn::decide {
namespace {

using iceberg::Literal;
using iceberg::PartitionField;
using iceberg::TransformKind;
using iceberg::Type;
using iceberg::TypeKind;
using iceberg::ValueRange;

bool IsTime(TransformKind kind) {
  return kind == TransformKind::kYear || kind == TransformKind::kMonth || kind == TransformKind::kDay ||
         kind == TransformKind::kHour;
}

/// Zeros of both signs are equal in a condition, though not as partition values.
Literal WithoutMinusZero(Literal value) {
  if (auto* narrow = std::get_if<float>(&value); narrow && *narrow == 0) *narrow = 0;
  if (auto* wide = std::get_if<double>(&value); wide && *wide == 0) *wide = 0;
  return value;
}

/// A test against the value of one partition field.
struct Projection {
  const PartitionField& field;
  const Type& source;
  Type result;
  const Literal& value;  // of the partition, not null

  /// Place of the partition's value relative to a projected one; nullopt when they cannot be compared.
  std::optional<int> Side(const Literal& projected) const {
    if (projected.index() != value.index()) return std::nullopt;
    const auto order = iceberg::Compare(result, WithoutMinusZero(value), WithoutMinusZero(projected));
    return order < 0 ? -1 : order > 0 ? 1 : 0;
  }
  std::optional<int> SideOf(const Literal& literal) const {
    const auto projected = iceberg::Apply(field.transform, source, literal);
    return projected ? Side(*projected) : std::nullopt;
  }

  /// Writers that rounded towards zero put values before 1970 one unit too late.
  bool OneUnitAfter(const Literal& literal) const {
    if (!IsTime(field.transform.kind)) return false;
    const auto projected = iceberg::Apply(field.transform, source, literal);
    const auto* at = projected ? std::get_if<std::int32_t>(&*projected) : nullptr;
    const auto* mine = std::get_if<std::int32_t>(&value);
    return at != nullptr && mine != nullptr && *at < 0 && *mine == *at + 1;
  }

  bool MayEqual(const Literal& literal) const { return SideOf(literal).value_or(0) == 0 || OneUnitAfter(literal); }

  /// Whether a row with a value at most (at least) `literal` may be in the partition: transforms but bucket
  /// keep the order.
  bool MayBeAtMost(const Literal& literal) const { return SideOf(literal).value_or(0) <= 0 || OneUnitAfter(literal); }
  bool MayBeAtLeast(const Literal& literal) const { return SideOf(literal).value_or(0) >= 0; }

  bool MayBeLess(const Literal& literal) const {
    if (field.transform.kind == TransformKind::kIdentity) return Side(literal).value_or(-1) < 0;
    const auto before = Before(literal);
    return MayBeAtMost(before ? *before : literal);
  }
  bool MayBeGreater(const Literal& literal) const {
    if (field.transform.kind == TransformKind::kIdentity) return Side(literal).value_or(1) > 0;
    const auto after = After(literal);
    return MayBeAtLeast(after ? *after : literal);
  }
};

bool MayMatch(const Projection& projection, WhereTest test, const std::vector<Literal>& literals) {
  const bool exact = projection.field.transform.kind == TransformKind::kIdentity;
  const bool bucket = projection.field.transform.kind == TransformKind::kBucket;
  const auto may_equal = [&](const Literal& literal) { return projection.MayEqual(literal); };
  switch (test) {
    case WhereTest::kIsNull: return false;
    case WhereTest::kNotNull: return true;
    case WhereTest::kEqual:
    case WhereTest::kIn: return std::any_of(literals.begin(), literals.end(), may_equal);
    case WhereTest::kNotEqual:
    case WhereTest::kNotIn: return !exact || std::none_of(literals.begin(), literals.end(), may_equal);
    case WhereTest::kLess: return bucket || projection.MayBeLess(literals[0]);
    case WhereTest::kLessEqual: return bucket || projection.MayBeAtMost(literals[0]);
    case WhereTest::kGreater: return bucket || projection.MayBeGreater(literals[0]);
    case WhereTest::kGreaterEqual: return bucket || projection.MayBeAtLeast(literals[0]);
  }
  return true;
}

std::optional<Literal> NanOf(const ValueRange& range) {
  if (!range.may_be_nan) return std::nullopt;
  if (range.type.kind == TypeKind::kFloat) return Literal(std::numeric_limits<float>::quiet_NaN());
  if (range.type.kind == TypeKind::kDouble) return Literal(std::numeric_limits<double>::quiet_NaN());
  return std::nullopt;
}

/// Whether some value of the range may equal what `literal` is projected to.
bool MayEqualOne(const PartitionField& field, const Type& source, const ValueRange& range, const Literal& literal) {
  const auto projected = iceberg::Apply(field.transform, source, literal);
  if (!projected || range.MayHold(*projected)) return true;
  const auto* at = std::get_if<std::int32_t>(&*projected);
  return IsTime(field.transform.kind) && at != nullptr && *at < 0 && range.MayHold(*at + 1);  // see OneUnitAfter
}

/// Whether the upper bound may be the beginning of a value that is above what `literal` is projected to.
bool IsCutBelow(const PartitionField& field, const Type& source, const ValueRange& range, const Literal& literal) {
  if (!range.may_be_cut()) return false;
  const auto projected = iceberg::Apply(field.transform, source, literal);
  return !projected || range.MayHold(*projected);
}

/// The partition value of a text, of the types and transforms that have one text a value.
std::optional<Literal> FromHumanText(const PartitionField& field, const ValueRange& range, const std::string& text) {
  const auto typed = [](WhereLiteral::Kind kind, std::string_view literal, TypeKind type) -> std::optional<Literal> {
    auto value = TypeLiteral({kind, std::string(literal)}, Type{.kind = type});
    if (!value) return std::nullopt;
    return std::move(*value);
  };
  const auto of_date = [&](const std::string& date) -> std::optional<Literal> {
    const auto days = typed(WhereLiteral::Kind::kString, date, TypeKind::kDate);
    if (!days) return std::nullopt;
    auto value = iceberg::Apply(field.transform, Type{.kind = TypeKind::kDate}, *days);
    if (!value) return std::nullopt;
    return std::move(*value);
  };
  switch (field.transform.kind) {
    case TransformKind::kYear: return of_date(text + "-01-01");
    case TransformKind::kMonth: return of_date(text + "-01");
    case TransformKind::kDay: return typed(WhereLiteral::Kind::kString, text, TypeKind::kDate);
    case TransformKind::kHour: return std::nullopt;
    default: break;
  }
  switch (range.type.kind) {
    case TypeKind::kInt:
    case TypeKind::kLong: return typed(WhereLiteral::Kind::kNumber, text, range.type.kind);
    case TypeKind::kDate: return typed(WhereLiteral::Kind::kString, text, range.type.kind);
    case TypeKind::kString: return Literal(text);
    default: return std::nullopt;
  }
}

}  // namespace

bool CanProject(TransformKind kind) { return kind != TransformKind::kVoid && kind != TransformKind::kUnknown; }

bool MayPass(const PartitionField& field, const Type& source, const Literal& value, WhereTest test,
             const std::vector<Literal>& literals) {
  // Null in, null out, and nothing else: no comparison holds for such rows.
  if (iceberg::IsNull(value)) return test == WhereTest::kIsNull;
  return MayMatch({field, source, iceberg::ResultType(field.transform, source), value}, test, literals);
}

bool MayPass(const PartitionField& field, const Type& source, const ValueRange& range, WhereTest test,
             const std::vector<Literal>& literals) {
  if (test == WhereTest::kIsNull) return range.may_be_null;
  if (const auto nan = NanOf(range); nan && MayPass(field, source, *nan, test, literals)) return true;
  if (!range.may_be_other) return false;
  if (range.is_open() || test == WhereTest::kNotNull) return true;
  switch (test) {
    case WhereTest::kEqual:
    case WhereTest::kIn:
      return std::ranges::any_of(literals,
                                 [&](const Literal& literal) { return MayEqualOne(field, source, range, literal); });
    case WhereTest::kNotEqual:
    case WhereTest::kNotIn: return !range.is_one_value() || MayPass(field, source, range.lower, test, literals);
    // Where the order is kept, what the least (greatest) value cannot pass none can.
    case WhereTest::kLess:
    case WhereTest::kLessEqual: return MayPass(field, source, range.lower, test, literals);
    default:
      return MayPass(field, source, range.upper, test, literals) || IsCutBelow(field, source, range, literals[0]);
  }
}

bool MayHaveText(const PartitionField& field, const Type& source, const ValueRange& range, const std::string& text) {
  if (range.may_be_null && text == iceberg::ToHumanText(field.transform, source, Literal())) return true;
  if (const auto nan = NanOf(range); nan && text == iceberg::ToHumanText(field.transform, source, *nan)) return true;
  if (!range.may_be_other) return false;
  if (range.is_open()) return true;
  const auto value = FromHumanText(field, range, text);
  if (value && iceberg::ToHumanText(field.transform, source, *value) == text) return range.MayHold(*value);
  return !range.is_one_value() || iceberg::ToHumanText(field.transform, source, range.lower) == text;
}

}  // namespace firn::decide
