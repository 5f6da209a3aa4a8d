// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/schema_tree.h"

namespace firn::parquet {

namespace {

struct OpenGroup {
  std::int32_t children_left = 0;
  std::int16_t definition_level = 0, repetition_level = 0;
};

Error At(std::size_t index, const char* fault) {
  return {Code::kCorrupt, "schema element " + std::to_string(index) + ": " + fault};
}

Status CheckElement(const std::vector<SchemaElement>& schema, std::size_t index) {
  const SchemaElement& element = schema[index];
  if (element.num_children < 0 || static_cast<std::size_t>(element.num_children) > schema.size() - index - 1) {
    return At(index, "more children than elements are left");
  }
  if (index == 0) {
    if (element.type) return At(index, "the root has a physical type");
    return Ok();
  }
  if (!element.repetition || *element.repetition < Repetition::kRequired ||
      *element.repetition > Repetition::kRepeated) {
    return At(index, "no valid repetition");
  }
  if (!element.type) return Ok();
  if (element.num_children > 0) return At(index, "children below a physical type");
  if (*element.type < PhysicalType::kBoolean || *element.type > PhysicalType::kFixedLenByteArray) {
    return At(index, "unknown physical type");
  }
  if (*element.type == PhysicalType::kFixedLenByteArray && element.type_length <= 0) {
    return At(index, "fixed length is not positive");
  }
  return Ok();
}

}  // namespace

Status WalkLeaves(const std::vector<SchemaElement>& schema, const std::function<void(const LeafPlace&)>& visit) {
  if (schema.empty()) return Error{Code::kCorrupt, "schema is empty"};
  FIRN_TRY(CheckElement(schema, 0));
  std::vector<OpenGroup> open = {{schema[0].num_children, 0, 0}};
  std::vector<std::int32_t> groups;
  for (std::size_t i = 1; i < schema.size(); ++i) {
    while (!open.empty() && open.back().children_left == 0) {
      open.pop_back();
      if (!groups.empty()) groups.pop_back();
    }
    if (open.empty()) return At(i, "element behind the end of the tree");
    FIRN_TRY(CheckElement(schema, i));
    --open.back().children_left;
    const Repetition repetition = *schema[i].repetition;
    OpenGroup level{schema[i].num_children, open.back().definition_level, open.back().repetition_level};
    if (repetition != Repetition::kRequired) ++level.definition_level;
    if (repetition == Repetition::kRepeated) ++level.repetition_level;
    if (schema[i].type) {
      visit({static_cast<std::int32_t>(i), level.definition_level, level.repetition_level, &groups});
      continue;
    }
    if (open.size() >= kSchemaDepthMax) return At(i, "schema is nested too deeply");
    open.push_back(level);
    groups.push_back(static_cast<std::int32_t>(i));
  }
  for (const OpenGroup& group : open) {
    if (group.children_left != 0) return At(schema.size() - 1, "the tree ends before its last child");
  }
  return Ok();
}

std::vector<Leaf> LeavesOf(const std::vector<SchemaElement>& schema) {
  std::vector<Leaf> leaves;
  const Status walked = WalkLeaves(schema, [&](const LeafPlace& place) {
    Leaf& leaf = leaves.emplace_back();
    leaf.schema_index = place.schema_index;
    leaf.max_definition_level = place.max_definition_level;
    leaf.max_repetition_level = place.max_repetition_level;
    leaf.path.reserve(place.groups->size() + 1);
    for (const std::int32_t group : *place.groups) {
      leaf.path.push_back(schema[static_cast<std::size_t>(group)].name);
    }
    leaf.path.push_back(schema[static_cast<std::size_t>(place.schema_index)].name);
  });
  if (!walked) leaves.clear();
  return leaves;
}

}  // namespace firn::parquet
