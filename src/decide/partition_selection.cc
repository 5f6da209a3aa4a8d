// SPDX-License-Identifier: Apache-2.0
#include "decide/partition_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "base/ascii.h"
#include "decide/projection.h"
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
    if (found == nullptr && AsciiLower(field.name) == AsciiLower(column)) found = &field;
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
  return Selects(*spec, tuple.values, [&](const FieldText& text, std::size_t i) {
    return iceberg::ToHumanText(spec->fields[i].transform, SourceType(spec->fields[i]), tuple.values[i]) == text.value;
  });
}

bool PartitionSelection::MayMatch(const iceberg::ManifestFile& manifest) const {
  const PartitionSpec* spec = metadata_->FindSpec(manifest.spec_id);
  if (spec == nullptr) return true;
  const auto ranges = iceberg::PartitionRangesOf(manifest, *metadata_);
  return Selects(*spec, ranges, [&](const FieldText& text, std::size_t i) {
    return MayHaveText(spec->fields[i], SourceType(spec->fields[i]), ranges[i], text.value);
  });
}

Type PartitionSelection::SourceType(const PartitionField& field) const {
  const iceberg::Field* source = metadata_->current_schema().FindField(field.source_id);
  return source != nullptr ? source->type : Type{};
}

template <class Values, class HasText>
bool PartitionSelection::Selects(const PartitionSpec& spec, const Values& values, HasText has_text) const {
  if (!nodes_.empty() && !NodeSelects(static_cast<std::uint32_t>(nodes_.size() - 1), spec, values)) return false;
  const auto has_field = [&](const FieldText& text) {
    const auto field = std::ranges::find(spec.fields, text.field, &PartitionField::name);
    return field != spec.fields.end() && has_text(text, static_cast<std::size_t>(field - spec.fields.begin()));
  };
  return partitions_.empty() || std::ranges::any_of(partitions_, [&](const std::vector<FieldText>& wanted) {
           return std::ranges::all_of(wanted, has_field);
         });
}

template <class Values>
bool PartitionSelection::NodeSelects(std::uint32_t index, const PartitionSpec& spec, const Values& values) const {
  const Node& node = nodes_[index];
  const auto selects = [&](std::uint32_t child) { return NodeSelects(child, spec, values); };
  if (node.kind == Where::Kind::kAnd) return std::ranges::all_of(node.children, selects);
  if (node.kind == Where::Kind::kOr) return std::ranges::any_of(node.children, selects);
  if (node.kind == Where::Kind::kConstant) return node.constant;
  for (std::size_t i = 0; i < spec.fields.size(); ++i) {
    const PartitionField& field = spec.fields[i];
    if (field.source_id != node.source_id || !CanProject(field.transform.kind)) continue;
    if (!MayPass(field, node.type, values[i], node.test, node.literals)) return false;
  }
  return true;
}

}  // namespace firn::decide
