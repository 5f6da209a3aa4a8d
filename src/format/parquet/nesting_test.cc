// SPDX-License-Identifier: Apache-2.0
#include "format/parquet/nesting.h"

#include <gtest/gtest.h>

#include <string>

namespace firn::parquet {
namespace {

constexpr std::int32_t kMap = 1, kMapKeyValue = 2, kList = 3;

SchemaElement Group(std::string name, std::int32_t children, Repetition repetition,
                    std::optional<std::int32_t> converted = std::nullopt) {
  SchemaElement element;
  element.name = std::move(name);
  element.num_children = children;
  element.repetition = repetition;
  element.converted_type = converted;
  return element;
}

SchemaElement Int(std::string name, Repetition repetition) {
  SchemaElement element;
  element.name = std::move(name);
  element.type = PhysicalType::kInt32;
  element.repetition = repetition;
  return element;
}

constexpr Repetition kRequired = Repetition::kRequired, kOptional = Repetition::kOptional,
                     kRepeated = Repetition::kRepeated;

/// "l1/2r0{i2r1}": kind, present level, "/" entry level for lists and maps, repetition level, children.
std::string Text(const std::vector<NestNode>& nodes) {
  std::string text;
  for (const NestNode& node : nodes) {
    if (!text.empty()) text += " ";
    text += "islm"[static_cast<int>(node.kind)] + std::to_string(node.present_level);
    if (node.entry_level != node.present_level) text += "/" + std::to_string(node.entry_level);
    text += "r" + std::to_string(node.repetition_level);
    if (!node.children.empty()) text += "{" + Text(node.children) + "}";
  }
  return text;
}

struct Case {
  const char* name;
  std::vector<SchemaElement> elements;  // of one field
  const char* text;
};

std::vector<Case> Layouts() {
  return {
      {"required leaf", {Int("a", kRequired)}, "i0r0"},
      {"optional leaf", {Int("a", kOptional)}, "i1r0"},
      {"three levels",
       {Group("a", 1, kOptional, kList), Group("list", 1, kRepeated), Int("element", kOptional)},
       "l1/2r0{i3r1}"},
      {"three levels, other names",
       {Group("a", 1, kRequired, kList), Group("bag", 1, kRepeated), Int("x", kRequired)},
       "l0/1r0{i1r1}"},
      {"rule 1: repeated leaf", {Group("a", 1, kOptional, kList), Int("array", kRepeated)}, "l1/2r0{i2r1}"},
      {"rule 2: several fields",
       {Group("a", 1, kOptional, kList), Group("element", 2, kRepeated), Int("x", kOptional), Int("y", kOptional)},
       "l1/2r0{s2r1{i3r1 i3r1}}"},
      {"rule 3: repeated child",
       {Group("a", 1, kOptional, kList), Group("array", 1, kRepeated, kList), Int("array", kRepeated)},
       "l1/2r0{l2/3r1{i3r2}}"},
      {"rule 4: array",
       {Group("a", 1, kOptional, kList), Group("array", 1, kRepeated), Int("x", kOptional)},
       "l1/2r0{s2r1{i3r1}}"},
      {"rule 4: tuple",
       {Group("a", 1, kOptional, kList), Group("a_tuple", 1, kRepeated), Int("x", kOptional)},
       "l1/2r0{s2r1{i3r1}}"},
      {"no annotation", {Int("a", kRepeated)}, "l0/1r0{i1r1}"},
      {"repeated group",
       {Group("a", 2, kRepeated), Int("x", kRequired), Int("y", kOptional)},
       "l0/1r0{s1r1{i1r1 i2r1}}"},
      {"map",
       {Group("a", 1, kOptional, kMap), Group("key_value", 2, kRepeated), Int("key", kRequired),
        Int("value", kOptional)},
       "m1/2r0{i2r1 i3r1}"},
      {"old map",
       {Group("a", 1, kOptional, kMapKeyValue), Group("map", 2, kRepeated, kMapKeyValue), Int("key", kRequired),
        Int("value", kOptional)},
       "m1/2r0{i2r1 i3r1}"},
      {"map without values",
       {Group("a", 1, kOptional, kMap), Group("map", 1, kRepeated), Int("key", kRequired)},
       "s1r0{l1/2r0{s2r1{i2r1}}}"},
      {"list annotation on a struct",
       {Group("a", 2, kOptional, kList), Int("x", kOptional), Int("y", kRequired)},
       "s1r0{i2r0 i1r0}"},
      {"struct in list in map",
       {Group("a", 1, kOptional, kMap), Group("key_value", 2, kRepeated), Int("key", kRequired),
        Group("value", 1, kOptional, kList), Group("list", 1, kRepeated), Group("element", 1, kOptional),
        Int("x", kOptional)},
       "m1/2r0{i2r1 l3/4r1{s5r2{i6r2}}}"},
  };
}

TEST(Nesting, LayoutsOfListsAndMaps_AreResolved) {
  for (const Case& item : Layouts()) {
    std::vector<SchemaElement> schema = {Group("table", 2, kRequired)};
    schema.insert(schema.end(), item.elements.begin(), item.elements.end());
    schema.push_back(Int("last", kRequired));
    const Result<std::vector<NestNode>> fields = NestingOf(schema);
    ASSERT_TRUE(fields) << item.name;
    ASSERT_EQ(fields->size(), 2U);
    EXPECT_EQ(Text({fields->front()}), item.text) << item.name;
    const std::vector<NestPath> paths = LeafPaths(*fields);
    const std::vector<Leaf> leaves = LeavesOf(schema);
    ASSERT_EQ(paths.size(), leaves.size());
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      EXPECT_EQ(paths[i].back()->leaf, static_cast<std::int32_t>(i));
      EXPECT_EQ(paths[i].back()->schema_index, leaves[i].schema_index);
      EXPECT_EQ(paths[i].back()->present_level, leaves[i].max_definition_level);
      EXPECT_EQ(paths[i].back()->repetition_level, leaves[i].max_repetition_level);
    }
  }
}

TEST(Nesting, BrokenTree_IsCorrupt) {
  const Result<std::vector<NestNode>> fields = NestingOf({Group("table", 1, kRequired)});
  ASSERT_FALSE(fields);
  EXPECT_EQ(fields.error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace firn::parquet
