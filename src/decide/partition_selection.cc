// SPDX-License-Identifier: Apache-2.0
#include "decide/partition_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "decide/typed_literal.h"

namespace firn::decide {
namespace {

using iceberg::Literal;
using iceberg::PartitionField;
using iceberg::PartitionSpec;
using iceberg::PartitionTuple;
using iceberg::TransformKind;
using iceberg::Type;

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::string Lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool IsTime(TransformKind kind) {
  return kind == TransformKind::kYear || kind == TransformKind::kMonth || kind == TransformKind::kDay ||
         kind == TransformKind::kHour;
}

bool CanProject(TransformKind kind) { return kind != TransformKind::kVoid && kind != TransformKind::kUnknown; }

WhereTest Negate(WhereTest test) {
  switch (test) {
    case WhereTest::kEqual: return WhereTest::kNotEqual;
    case WhereTest::kNotEqual: return WhereTest::kEqual;
    case WhereTest::kLess: return WhereTest::kGreaterEqual;
    case WhereTest::kLessEqual: return WhereTest::kGreater;
    case WhereTest::kGreater: return WhereTest::kLessEqual;
    case WhereTest::kGreaterEqual: return WhereTest::kLess;
    case WhereTest::kIn: return WhereTest::kNotIn;
    case WhereTest::kNotIn: return WhereTest::kIn;
    case WhereTest::kIsNull: return WhereTest::kNotNull;
    case WhereTest::kNotNull: return WhereTest::kIsNull;
  }
  return test;
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

/// Names of partition fields, or of the columns that they are made from.
std::string FieldNames(const iceberg::TableMetadata& metadata, bool of_columns) {
  std::set<std::string> names;
  for (const auto& spec : metadata.specs()) {
    for (const auto& field : spec.fields) {
      if (!CanProject(field.transform.kind)) continue;
      const std::string column = metadata.current_schema().FullName(field.source_id);
      if (!of_columns) names.insert(field.name);
      if (of_columns && !column.empty()) names.insert(column);
    }
  }
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

Result<PartitionSelection> PartitionSelection::Make(const Where* where, const std::vector<std::string>& partitions,
                                                    iceberg::MetadataPtr metadata) {
  PartitionSelection selection(std::move(metadata));
  if (where != nullptr) FIRN_TRY(selection.Bind(*where, false));
  for (const auto& text : partitions) FIRN_TRY(selection.AddPartition(text));
  return selection;
}

Result<std::uint32_t> PartitionSelection::Bind(const Where& where, bool negated) {
  if (where.kind == Where::Kind::kNot) return Bind(where.children[0], !negated);
  if (where.kind == Where::Kind::kTest) return BindTest(where, negated);
  Node node;
  node.kind = where.kind;
  node.constant = where.constant != negated;
  // De Morgan: below a NOT the two change places.
  if (negated && where.kind == Where::Kind::kAnd) node.kind = Where::Kind::kOr;
  if (negated && where.kind == Where::Kind::kOr) node.kind = Where::Kind::kAnd;
  for (const Where& child : where.children) {
    FIRN_ASSIGN(const std::uint32_t index, Bind(child, negated));
    node.children.push_back(index);
  }
  nodes_.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

Result<std::uint32_t> PartitionSelection::BindTest(const Where& where, bool negated) {
  FIRN_ASSIGN(const iceberg::Field* field, FindSource(where.column));
  Node node;
  node.kind = Where::Kind::kTest;
  node.source_id = field->id;
  node.type = field->type;
  node.test = negated ? Negate(where.test) : where.test;
  for (const auto& literal : where.literals) {
    FIRN_ASSIGN(Literal typed, TypeLiteral(literal, field->type).In("column " + where.column));
    node.literals.push_back(std::move(typed));
  }
  nodes_.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

Result<const iceberg::Field*> PartitionSelection::FindSource(const std::string& column) const {
  const auto& schema = metadata_->current_schema();
  const iceberg::Field* found = schema.FindByName(column);
  for (const auto& field : schema.fields()) {
    if (found == nullptr && Lower(field.name) == Lower(column)) found = &field;
  }
  bool is_partition_field = false;
  for (const auto& spec : metadata_->specs()) {
    for (const auto& field : spec.fields) {
      is_partition_field |= field.name == column;
      if (found != nullptr && field.source_id == found->id && CanProject(field.transform.kind)) return found;
    }
  }
  if (found == nullptr && is_partition_field) {
    return Invalid(
        fmt::format("`{}` is a partition field, not a column: use --partition '{}=...', or the column that "
                    "it is made from",
                    column, column));
  }
  if (found == nullptr) return Invalid(fmt::format("the table has no column `{}`", column));
  return Invalid(
      fmt::format("no partition is made from column `{}`: a condition selects whole partitions, so it can only use "
                  "their columns ({})",
                  column, FieldNames(*metadata_, true)));
}

Status PartitionSelection::AddPartition(const std::string& text) {
  std::vector<FieldText> wanted;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('/', at), text.size());
    const std::string part = text.substr(at, end - at);
    at = end + 1;
    const auto equal = part.find('=');
    if (equal == std::string::npos && !wanted.empty()) {
      wanted.back().value += "/" + part;  // a value that contains the separator
      continue;
    }
    if (equal == std::string::npos || equal == 0) {
      return Invalid(fmt::format("partition `{}` is not of the form field=value or field=value/field=value", text));
    }
    wanted.push_back({part.substr(0, equal), part.substr(equal + 1)});
  }
  for (const auto& field_text : wanted) {
    const bool known = std::ranges::any_of(metadata_->specs(), [&](const PartitionSpec& spec) {
      return std::ranges::any_of(spec.fields, [&](const PartitionField& f) { return f.name == field_text.field; });
    });
    if (!known) {
      return Invalid(fmt::format("the table has no partition field `{}`; it has: {}", field_text.field,
                                 FieldNames(*metadata_, false)));
    }
  }
  partitions_.push_back(std::move(wanted));
  return Ok();
}

bool PartitionSelection::Matches(SpecId spec_id, const PartitionTuple& tuple) const {
  const PartitionSpec* spec = metadata_->FindSpec(spec_id);
  if (spec == nullptr || spec->fields.size() != tuple.values.size()) return true;
  if (!nodes_.empty() && !NodeMatches(static_cast<std::uint32_t>(nodes_.size() - 1), *spec, tuple)) return false;
  return partitions_.empty() || std::ranges::any_of(partitions_, [&](const std::vector<FieldText>& wanted) {
           return TextMatches(wanted, *spec, tuple);
         });
}

bool PartitionSelection::NodeMatches(std::uint32_t index, const PartitionSpec& spec,
                                     const PartitionTuple& tuple) const {
  const Node& node = nodes_[index];
  const auto matches = [&](std::uint32_t child) { return NodeMatches(child, spec, tuple); };
  if (node.kind == Where::Kind::kAnd) return std::ranges::all_of(node.children, matches);
  if (node.kind == Where::Kind::kOr) return std::ranges::any_of(node.children, matches);
  if (node.kind == Where::Kind::kConstant) return node.constant;
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    if (field.source_id != node.source_id || !CanProject(field.transform.kind)) continue;
    if (iceberg::IsNull(tuple.values[i])) {
      // Null in, null out, and nothing else: no comparison holds for such rows.
      if (node.test != WhereTest::kIsNull) return false;
      continue;
    }
    const Projection projection{field, node.type, iceberg::ResultType(field.transform, node.type), tuple.values[i]};
    if (!MayMatch(projection, node.test, node.literals)) return false;
  }
  return true;
}

bool PartitionSelection::TextMatches(const std::vector<FieldText>& wanted, const PartitionSpec& spec,
                                     const PartitionTuple& tuple) const {
  const auto& schema = metadata_->current_schema();
  return std::ranges::all_of(wanted, [&](const FieldText& text) {
    for (std::size_t i = 0; i < spec.fields.size(); ++i) {
      if (spec.fields[i].name != text.field) continue;
      const iceberg::Field* source = schema.FindField(spec.fields[i].source_id);
      const Type type = source != nullptr ? source->type : Type{};
      return iceberg::ToHumanText(spec.fields[i].transform, type, tuple.values[i]) == text.value;
    }
    return false;
  });
}

}  // namespace firn::decide
