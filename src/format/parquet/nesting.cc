// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/nesting.h"

#include "format/parquet/promotion.h"
#include "format/parquet/schema_tree.h"

namespace firn::parquet {

namespace {

struct Levels {
  std::int16_t definition = 0, repetition = 0;

  Levels Under(Repetition repetition_of_child) const {
    Levels below = *this;
    if (repetition_of_child != Repetition::kRequired) ++below.definition;
    if (repetition_of_child == Repetition::kRepeated) ++below.repetition;
    return below;
  }
};

/// Walks a schema that WalkLeaves found to be one well-formed tree of bounded depth.
class NestingParser {
 public:
  explicit NestingParser(const std::vector<SchemaElement>& schema) : schema_(schema) {}

  std::vector<NestNode> Fields(std::int32_t count, Levels levels) {
    std::vector<NestNode> fields;
    for (std::int32_t i = 0; i < count; ++i) fields.push_back(Field(levels));
    return fields;
  }

 private:
  const SchemaElement& At(std::size_t index) const { return schema_[index]; }

  NestNode Begin(NestKind kind, Levels levels) const {
    NestNode node;
    node.kind = kind;
    node.schema_index = static_cast<std::int32_t>(next_);
    node.present_level = node.entry_level = levels.definition;
    node.repetition_level = levels.repetition;
    return node;
  }

  /// A field of a struct: a repeated one without annotation is a list that is always there.
  NestNode Field(Levels levels) {
    const Repetition repetition = *At(next_).repetition;
    if (repetition != Repetition::kRepeated) return Body(levels.Under(repetition));
    NestNode list = Begin(NestKind::kList, levels);
    const Levels entry = levels.Under(repetition);
    list.entry_level = entry.definition;
    list.children.push_back(Body(entry));
    return list;
  }

  /// What the element at next_ is, its own repetition already counted.
  NestNode Body(Levels levels) {
    const SchemaElement& element = At(next_);
    if (element.type) {
      NestNode leaf = Begin(NestKind::kPrimitive, levels);
      leaf.leaf = leaf_++;
      ++next_;
      return leaf;
    }
    const LogicalKind kind = EffectiveLogicalType(element).kind;
    if (kind == LogicalKind::kList && HasOneRepeatedChild()) return ListBody(levels);
    if (kind == LogicalKind::kMap && HasOneRepeatedChild() && !At(next_ + 1).type && At(next_ + 1).num_children == 2) {
      return MapBody(levels);
    }
    NestNode group = Begin(NestKind::kStruct, levels);
    ++next_;
    group.children = Fields(element.num_children, levels);
    return group;
  }

  bool HasOneRepeatedChild() const {
    return At(next_).num_children == 1 && At(next_ + 1).repetition == Repetition::kRepeated;
  }

  NestNode ListBody(Levels levels) {
    NestNode list = Begin(NestKind::kList, levels);
    const std::string& name = At(next_).name;
    ++next_;
    const Levels entry = levels.Under(Repetition::kRepeated);
    list.entry_level = entry.definition;
    const SchemaElement& repeated = At(next_);
    const bool is_element = repeated.type || repeated.num_children != 1 ||
                            At(next_ + 1).repetition == Repetition::kRepeated || repeated.name == "array" ||
                            repeated.name == name + "_tuple";
    if (!is_element) ++next_;
    list.children.push_back(is_element ? Body(entry) : Field(entry));
    return list;
  }

  NestNode MapBody(Levels levels) {
    NestNode map = Begin(NestKind::kMap, levels);
    next_ += 2;
    const Levels entry = levels.Under(Repetition::kRepeated);
    map.entry_level = entry.definition;
    map.children = Fields(2, entry);
    return map;
  }

  const std::vector<SchemaElement>& schema_;
  std::size_t next_ = 1;
  std::int32_t leaf_ = 0;
};

void CollectPaths(const NestNode& node, NestPath& path, std::vector<NestPath>& paths) {
  path.push_back(&node);
  if (node.kind == NestKind::kPrimitive) paths.push_back(path);
  for (const NestNode& child : node.children) CollectPaths(child, path, paths);
  path.pop_back();
}

}  // namespace

Result<std::vector<NestNode>> NestingOf(const std::vector<SchemaElement>& schema) {
  FIRN_TRY(WalkLeaves(schema, [](const LeafPlace&) {}));
  return NestingParser(schema).Fields(schema[0].num_children, {});
}

std::vector<NestPath> LeafPaths(const std::vector<NestNode>& fields) {
  std::vector<NestPath> paths;
  NestPath path;
  for (const NestNode& field : fields) CollectPaths(field, path, paths);
  return paths;
}

}  // namespace firn::parquet
