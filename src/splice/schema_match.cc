// SPDX-License-Identifier: Apache-2.0
#include "splice/schema_match.h"

#include <algorithm>
#include <map>

#include "format/parquet/promotion.h"
#include "splice/column_name.h"
#include "splice/dictionary_union.h"
#include "splice/lineage.h"

namespace firn::splice {

namespace {

using parquet::PhysicalType;
using parquet::Repetition;

/// Definition levels of the input as levels of the output, if the paths differ at most in required elements of the
/// input that are optional in the output.
std::optional<LevelMap> MapLevels(const OutputColumn& output, const OutputColumn& input) {
  if (output.repetitions.size() != input.repetitions.size()) return std::nullopt;
  LevelMap map;
  map.input_max_definition = input.max_definition;
  std::vector<std::uint32_t> by_level;
  std::uint32_t level = 0;
  bool same = true;
  for (std::size_t i = 0; i < input.repetitions.size(); ++i) {
    const Repetition from = input.repetitions[i], to = output.repetitions[i];
    if (from == to) {
      // The input's level says that the elements before this one are there: so are the optional ones among them.
      if (from != Repetition::kRequired) by_level.push_back(level);
    } else if (from == Repetition::kRequired && to == Repetition::kOptional) {
      same = false;
    } else {
      return std::nullopt;
    }
    if (to != Repetition::kRequired) ++level;
  }
  by_level.push_back(level);
  if (!same) map.definition = std::move(by_level);
  return map;
}

/// Row ids and sequence numbers: the input's column, if there is one, must be moved, not converted.
Result<ColumnRoute> LineageRouteOf(const OutputColumn& output, const std::vector<OutputColumn>& input,
                                   std::int32_t leaf) {
  ColumnRoute route;
  route.kind = ColumnRoute::Kind::kLineage;
  if (output.type != PhysicalType::kInt64 || output.path.size() != 1 || output.max_definition != 1 ||
      output.max_repetition != 0) {
    return Error{Code::kInvalidArgument, "column " + PathName(output) + ": row lineage in a column that is not long"};
  }
  if (leaf < 0) return route;
  if (static_cast<std::size_t>(leaf) >= input.size()) {
    return Error{Code::kInvalidArgument,
                 "column " + PathName(output) + ": the input has no leaf " + std::to_string(leaf)};
  }
  const OutputColumn& from = input[static_cast<std::size_t>(leaf)];
  std::optional<LevelMap> levels = MapLevels(output, from);
  if (from.type != PhysicalType::kInt64 || !levels) {
    return Error{Code::kUnsupported,
                 "column " + PathName(output) + ": row lineage in an input column that is not long"};
  }
  route.leaf = leaf;
  route.levels = std::move(*levels);
  return route;
}

Result<ColumnRoute> RouteOf(const OutputColumn& output, const std::vector<OutputColumn>& input,
                            const ColumnSource& source) {
  ColumnRoute route;
  if (source.kind == ColumnSource::Kind::kConstant) {
    route.kind = source.constant ? ColumnRoute::Kind::kValue : ColumnRoute::Kind::kNull;
    return route;
  }
  if (IsLineage(source.kind)) return LineageRouteOf(output, input, source.leaf);
  if (source.leaf < 0 || static_cast<std::size_t>(source.leaf) >= input.size()) {
    return Error{Code::kInvalidArgument,
                 "column " + PathName(output) + ": the input has no leaf " + std::to_string(source.leaf)};
  }
  route.leaf = source.leaf;
  const OutputColumn& from = input[static_cast<std::size_t>(source.leaf)];
  if (source.kind == ColumnSource::Kind::kConvert) {
    route.reason = "conversion";
  } else {
    FIRN_ASSIGN(const parquet::Promotion promotion,
                parquet::PromotionOf(from.element, output.element).In("column " + PathName(output)));
    if (promotion != parquet::Promotion::kNone) route.reason = "types differ";
    if (std::optional<LevelMap> levels = MapLevels(output, from)) {
      route.levels = std::move(*levels);
    } else if (route.reason.empty()) {
      route.reason = "nesting differs";
    }
  }
  route.kind = route.reason.empty() ? ColumnRoute::Kind::kMove : ColumnRoute::Kind::kDecode;
  return route;
}

/// A missing leaf inside a group that the input has: its levels are not those of a missing top field, so the whole
/// field is decoded.
void DecodePartlyMissing(const std::vector<OutputColumn>& output, std::vector<ColumnRoute>& routes) {
  const auto missing = [](const ColumnRoute& route) {
    return route.kind == ColumnRoute::Kind::kNull || route.kind == ColumnRoute::Kind::kValue;
  };
  for (std::size_t i = 0; i < output.size(); ++i) {
    if (!missing(routes[i]) || output[i].path.size() < 2) continue;
    const bool partly = std::ranges::any_of(output, [&](const OutputColumn& other) {
      return other.top_field == output[i].top_field && !missing(routes[static_cast<std::size_t>(other.index)]);
    });
    if (partly) {
      routes[i].kind = ColumnRoute::Kind::kDecode;
      routes[i].reason = "missing inside a group";
    }
  }
}

/// Keeps the lists that several columns are below of.
void KeepShared(std::vector<OutputColumn>& columns) {
  std::map<std::int32_t, int> leaves;
  for (const OutputColumn& column : columns) {
    for (const SharedList& list : column.shared_lists) ++leaves[list.element];
  }
  for (OutputColumn& column : columns) {
    std::erase_if(column.shared_lists, [&](const SharedList& list) { return leaves[list.element] < 2; });
  }
}

/// Writers name the groups inside of lists and maps as they like ("list.element", "list.item", "bag.array"): the names
/// say nothing. `at` are the schema elements on the leaf's path, the root first.
std::vector<std::string> FieldPath(const std::vector<parquet::SchemaElement>& schema,
                                   const std::vector<std::pair<std::size_t, std::int32_t>>& at,
                                   std::vector<std::string> path) {
  for (std::size_t depth = 1; depth + 1 < at.size(); ++depth) {
    const parquet::LogicalKind kind = parquet::EffectiveLogicalType(schema[at[depth].first]).kind;
    const parquet::SchemaElement& repeated = schema[at[depth + 1].first];
    if (repeated.repetition != Repetition::kRepeated) continue;
    if (kind == parquet::LogicalKind::kMap) path[depth] = "key_value";
    if (kind != parquet::LogicalKind::kList || repeated.num_children != 1 || depth + 2 >= at.size()) continue;
    // By these names of two-level lists the repeated group is a struct of one field, whose name counts.
    if (repeated.name == "array" || repeated.name == schema[at[depth].first].name + "_tuple") continue;
    path[depth] = "list";
    path[depth + 1] = "element";
  }
  return path;
}

/// Parts of a variant are typed by their annotations: none may be another.
bool SameVariant(const OutputColumn& output, const OutputColumn& input) {
  if (output.in_variant != input.in_variant) return false;
  return !output.in_variant ||
         parquet::EffectiveLogicalType(output.element) == parquet::EffectiveLogicalType(input.element);
}

}  // namespace

Result<std::vector<OutputColumn>> ColumnsOf(const std::vector<parquet::SchemaElement>& schema) {
  const std::vector<parquet::Leaf> leaves = parquet::LeavesOf(schema);
  if (leaves.empty()) return Error{Code::kInvalidArgument, "the schema has no columns or is not a tree"};
  std::vector<OutputColumn> columns(leaves.size());
  // The path of each leaf: a stack of (element, children left) over the flat list.
  std::vector<std::pair<std::size_t, std::int32_t>> stack;
  std::size_t next_leaf = 0;
  std::int32_t top_field = -1;
  for (std::size_t i = 0; i < schema.size() && next_leaf < leaves.size(); ++i) {
    while (!stack.empty() && stack.back().second == 0) stack.pop_back();
    if (!stack.empty()) --stack.back().second;
    if (stack.size() == 1) ++top_field;
    stack.emplace_back(i, schema[i].num_children);
    if (static_cast<std::size_t>(leaves[next_leaf].schema_index) != i) continue;
    const parquet::Leaf& leaf = leaves[next_leaf];
    OutputColumn& column = columns[next_leaf];
    column.index = static_cast<std::int32_t>(next_leaf++);
    column.element = schema[i];
    if (!schema[i].type) return Error{Code::kInvalidArgument, "a column without a physical type"};
    column.type = *schema[i].type;
    column.width = FixedWidth(column.type, schema[i].type_length);
    if (column.type == PhysicalType::kFixedLenByteArray && column.width == 0) {
      return Error{Code::kUnsupported, "a fixed-length column of length 0"};
    }
    column.max_definition = static_cast<std::uint32_t>(leaf.max_definition_level);
    column.max_repetition = static_cast<std::uint32_t>(leaf.max_repetition_level);
    column.path = leaf.path;
    column.field_path = FieldPath(schema, stack, leaf.path);
    std::uint32_t repetition_level = 0, definition_level = 0;
    column.element_definitions = {0};
    for (std::size_t depth = 1; depth < stack.size(); ++depth) {
      column.in_variant =
          column.in_variant || schema[stack[depth].first].logical.kind == parquet::LogicalKind::kVariant;
      const Repetition repetition = schema[stack[depth].first].repetition.value_or(Repetition::kRequired);
      column.repetitions.push_back(repetition);
      if (repetition != Repetition::kRequired) ++definition_level;
      if (repetition != Repetition::kRepeated) continue;
      column.element_definitions.push_back(definition_level);
      column.shared_lists.push_back(
          {static_cast<std::int32_t>(stack[depth].first), ++repetition_level, definition_level});
    }
    column.top_field = top_field;
    column.order = OrderOf(schema[i]);
  }
  KeepShared(columns);
  return columns;
}

Result<std::vector<ColumnRoute>> MatchSchema(const std::vector<OutputColumn>& output,
                                             const std::vector<OutputColumn>& input,
                                             const std::vector<ColumnSource>& columns) {
  std::vector<ColumnRoute> routes;
  if (columns.empty()) {
    if (input.size() != output.size()) {
      return Error{Code::kUnsupported,
                   std::to_string(input.size()) + " columns, the output has " + std::to_string(output.size())};
    }
    for (const OutputColumn& column : output) {
      const OutputColumn& from = input[static_cast<std::size_t>(column.index)];
      if (from.field_path != column.field_path) {
        return Error{Code::kUnsupported, "column " + PathName(from) + " where the output has " + PathName(column)};
      }
      if (!SameVariant(column, from)) {
        return Error{Code::kUnsupported, "column " + PathName(column) + ": another variant, or a variant in one only"};
      }
      ColumnSource source;
      source.leaf = column.index;
      FIRN_ASSIGN(routes.emplace_back(), RouteOf(column, input, source));
      if (routes.back().kind == ColumnRoute::Kind::kDecode) {
        return Error{Code::kUnsupported, "column " + PathName(column) + ": " + routes.back().reason};
      }
    }
    return routes;
  }
  if (columns.size() != output.size()) {
    return Error{Code::kInvalidArgument,
                 std::to_string(columns.size()) + " column sources for " + std::to_string(output.size()) + " columns"};
  }
  for (const OutputColumn& column : output) {
    const ColumnSource& source = columns[static_cast<std::size_t>(column.index)];
    FIRN_ASSIGN(routes.emplace_back(), RouteOf(column, input, source));
  }
  DecodePartlyMissing(output, routes);
  for (const OutputColumn& column : output) {
    const ColumnRoute::Kind kind = routes[static_cast<std::size_t>(column.index)].kind;
    if (kind == ColumnRoute::Kind::kNull &&
        (column.repetitions.empty() || column.repetitions[0] == Repetition::kRequired)) {
      return Error{Code::kInvalidArgument, "column " + PathName(column) + " is required and missing"};
    }
    if (kind == ColumnRoute::Kind::kValue && (column.nested() || column.path.size() > 1)) {
      return Error{Code::kUnsupported, "column " + PathName(column) + ": a constant inside a nested column"};
    }
  }
  return routes;
}

}  // namespace firn::splice
