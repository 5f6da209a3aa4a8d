// SPDX-License-Identifier: Apache-2.0
#include "splice/fallback_levels.h"

#include <gtest/gtest.h>

namespace firn::splice {
namespace {

using parquet::NestNode;
using parquet::NestPath;
using parquet::Repetition;
using parquet::SchemaElement;

constexpr std::int32_t kMap = 1, kList = 3;

SchemaElement Group(const char* name, std::int32_t children, Repetition repetition,
                    std::optional<std::int32_t> converted = std::nullopt) {
  SchemaElement element;
  element.name = name;
  element.num_children = children;
  element.repetition = repetition;
  element.converted_type = converted;
  return element;
}

SchemaElement Int(const char* name, Repetition repetition) {
  SchemaElement element;
  element.name = name;
  element.type = parquet::PhysicalType::kInt32;
  element.repetition = repetition;
  return element;
}

constexpr Repetition kRequired = Repetition::kRequired, kOptional = Repetition::kOptional,
                     kRepeated = Repetition::kRepeated;

struct Tree {
  std::vector<NestNode> fields;
  std::vector<NestPath> paths;

  explicit Tree(std::vector<SchemaElement> elements) {
    elements.insert(elements.begin(), Group("table", 1, kRequired));
    Result<std::vector<NestNode>> parsed = parquet::NestingOf(elements);
    EXPECT_TRUE(parsed);
    if (parsed) fields = std::move(*parsed);
    paths = parquet::LeafPaths(fields);
  }
};

using Levels = std::vector<std::int16_t>;

TEST(TranslateLevels, SameLayout_IsTheIdentity) {
  const Tree tree({Group("a", 1, kOptional, kList), Group("list", 1, kRepeated), Int("element", kOptional)});
  const Result<LevelTable> table = TranslateLevels(tree.paths[0], tree.paths[0]);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->definition, (Levels{0, 1, 2, 3}));
  EXPECT_EQ(table->repetition_max, 1);
}

TEST(TranslateLevels, TwoLevelList_BecomesThreeLevels) {
  const Tree from({Group("a", 1, kOptional, kList), Int("array", kRepeated)});
  const Tree to({Group("a", 1, kOptional, kList), Group("list", 1, kRepeated), Int("element", kOptional)});
  const Result<LevelTable> table = TranslateLevels(from.paths[0], to.paths[0]);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->definition, (Levels{0, 1, 3}));  // null list, empty list, element
}

TEST(TranslateLevels, RepeatedFieldWithoutAnnotation_IsAListThatIsThere) {
  const Tree from({Int("a", kRepeated)});
  const Tree to({Group("a", 1, kOptional, kList), Group("list", 1, kRepeated), Int("element", kOptional)});
  const Result<LevelTable> table = TranslateLevels(from.paths[0], to.paths[0]);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->definition, (Levels{1, 3}));
}

TEST(TranslateLevels, RequiredToOptional_AddsLevels) {
  const Tree from({Group("s", 1, kRequired), Int("x", kRequired)});
  const Tree to({Group("s", 1, kOptional), Int("x", kOptional)});
  const Result<LevelTable> table = TranslateLevels(from.paths[0], to.paths[0]);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->definition, (Levels{2}));
}

TEST(TranslateLevels, OptionalToRequired_ForbidsTheNulls) {
  const Tree from({Group("s", 1, kOptional), Int("x", kOptional)});
  const Tree to({Group("s", 1, kOptional), Int("x", kRequired)});
  const Result<LevelTable> table = TranslateLevels(from.paths[0], to.paths[0]);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->definition, (Levels{0, LevelTable::kForbidden, 1}));
}

TEST(TranslateLevels, OtherShape_IsUnsupported) {
  const Tree flat({Int("x", kOptional)});
  const Tree group({Group("s", 1, kOptional), Int("x", kOptional)});
  const Tree list({Group("a", 1, kOptional, kList), Int("array", kRepeated)});
  const Tree map({Group("m", 1, kOptional, kMap), Group("kv", 2, kRepeated), Int("k", kRequired), Int("v", kOptional)});
  EXPECT_FALSE(TranslateLevels(flat.paths[0], group.paths[0]));
  EXPECT_FALSE(TranslateLevels(list.paths[0], group.paths[0]));
  EXPECT_FALSE(TranslateLevels(map.paths[0], map.paths[1]));
  EXPECT_TRUE(TranslateLevels(map.paths[1], map.paths[1]));
}

/// optional list of optional structs {x optional list of ints, y}; the file has only x, or only y.
TEST(LevelsOfMissing, FieldOfAStructInAList_FollowsTheStruct) {
  const Tree from({Group("a", 1, kOptional, kList), Group("list", 1, kRepeated), Group("element", 1, kOptional),
                   Group("x", 1, kOptional, kList), Group("list", 1, kRepeated), Int("element", kOptional)});
  const Tree to({Group("a", 1, kOptional, kList), Group("list", 1, kRepeated), Group("element", 2, kOptional),
                 Group("x", 1, kOptional, kList), Group("list", 1, kRepeated), Int("element", kOptional),
                 Int("y", kOptional)});
  const Result<LevelTable> null = LevelsOfMissing(from.paths[0], to.paths[0], to.paths[1], false);
  ASSERT_TRUE(null) << null.error().message;
  // null list, empty list, null struct, then the struct is there, whatever its list is.
  EXPECT_EQ(null->definition, (Levels{0, 1, 2, 3, 3, 3, 3}));
  EXPECT_EQ(null->repetition_max, 1);
  const Result<LevelTable> value = LevelsOfMissing(from.paths[0], to.paths[0], to.paths[1], true);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->definition, (Levels{0, 1, 2, 4, 4, 4, 4}));
}

TEST(LevelsOfMissing, RequiredWithoutValue_IsForbiddenWhereItsStructIs) {
  const Tree from({Group("s", 1, kOptional), Int("x", kOptional)});
  const Tree to({Group("s", 2, kOptional), Int("x", kOptional), Int("y", kRequired)});
  const Result<LevelTable> null = LevelsOfMissing(from.paths[0], to.paths[0], to.paths[1], false);
  ASSERT_TRUE(null);
  EXPECT_EQ(null->definition, (Levels{0, LevelTable::kForbidden, LevelTable::kForbidden}));
  const Result<LevelTable> value = LevelsOfMissing(from.paths[0], to.paths[0], to.paths[1], true);
  ASSERT_TRUE(value);
  EXPECT_EQ(value->definition, (Levels{0, 1, 1}));
}

TEST(LevelsOfMissing, SideOfAMap_HasNoStructToFollow) {
  const Tree to({Group("m", 1, kOptional, kMap), Group("kv", 2, kRepeated), Int("k", kRequired), Int("v", kOptional)});
  EXPECT_FALSE(LevelsOfMissing(to.paths[0], to.paths[0], to.paths[1], false));
}

}  // namespace
}  // namespace firn::splice
