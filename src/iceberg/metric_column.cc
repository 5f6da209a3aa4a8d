// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metric_column.h"

#include <algorithm>
#include <cmath>

#include "format/parquet/nesting.h"

namespace firn::iceberg {

namespace {

using parquet::NestKind;
using parquet::NestNode;
using parquet::SchemaElement;

std::size_t FirstLeaf(const NestNode& node) {
  const NestNode* at = &node;
  while (at->kind != NestKind::kPrimitive && !at->children.empty()) at = &at->children.front();
  return static_cast<std::size_t>(std::max(at->leaf, 0));
}

/// Every variant that is there has metadata; its other parts depend on how it is shredded.
void PlaceVariant(const std::vector<SchemaElement>& output, const NestNode& node, MetricColumn& column) {
  column.counts_leaf = false;
  for (const NestNode& child : node.children) {
    const SchemaElement& element = output[static_cast<std::size_t>(child.schema_index)];
    if (element.name != "metadata" || child.kind != NestKind::kPrimitive) continue;
    if (element.repetition != parquet::Repetition::kRequired) continue;
    column.leaf = FirstLeaf(child);
    column.counts_leaf = true;
  }
}

void Collect(const Schema& schema, const std::vector<SchemaElement>& output, const std::vector<NestNode>& nodes,
             bool in_struct, std::vector<MetricColumn>& columns) {
  for (const NestNode& node : nodes) {
    const SchemaElement& element = output[static_cast<std::size_t>(node.schema_index)];
    const Field* field = element.field_id ? schema.FindField(*element.field_id) : nullptr;
    if (field == nullptr || !field->type.is_primitive()) {
      Collect(schema, output, node.children, true, columns);
      continue;
    }
    MetricColumn& column = columns.emplace_back();
    column.id = field->id;
    column.type = &field->type;
    column.element = &element;
    column.leaf = FirstLeaf(node);
    column.in_struct = in_struct;
    column.repeated = node.repetition_level > 0;
    if (column.is_variant()) PlaceVariant(output, node, column);
  }
}

}  // namespace

bool MetricColumn::may_have_bounds() const {
  return !repeated && type->is_primitive() && !is_variant() && type->kind != TypeKind::kGeometry &&
         type->kind != TypeKind::kGeography && type->kind != TypeKind::kUnknown;
}

std::vector<MetricColumn> MetricColumnsOf(const Schema& schema, const std::vector<SchemaElement>& output) {
  std::vector<MetricColumn> columns;
  const Result<std::vector<NestNode>> nodes = parquet::NestingOf(output);
  if (!nodes) return columns;
  Collect(schema, output, *nodes, false, columns);
  std::ranges::sort(columns, {}, &MetricColumn::id);
  return columns;
}

bool IsNan(const Literal& value) {
  if (const auto* number = std::get_if<float>(&value)) return std::isnan(*number);
  if (const auto* number = std::get_if<double>(&value)) return std::isnan(*number);
  return false;
}

std::optional<Literal> PlainLiteral(const MetricColumn& column, const Bytes& plain) {
  // PLAIN is the single-value serialization except for decimals.
  if (column.type->kind == TypeKind::kDecimal && column.element->type != parquet::PhysicalType::kFixedLenByteArray) {
    if (plain.size() == 4) return Literal(Decimal{LoadLittle<std::int32_t>(plain.data())});
    if (plain.size() == 8) return Literal(Decimal{LoadLittle<std::int64_t>(plain.data())});
    return std::nullopt;
  }
  Result<Literal> value = DecodeBound(*column.type, plain);
  if (!value) return std::nullopt;
  return std::move(*value);
}

}  // namespace firn::iceberg
