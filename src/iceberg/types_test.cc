// SPDX-License-Identifier: Apache-2.0
#include "iceberg/types.h"

#include <gtest/gtest.h>

#include "iceberg/schema_json.h"

namespace firn::iceberg {
namespace {

constexpr const char* kNested = R"json({
  "type": "struct", "schema-id": 7, "identifier-field-ids": [1],
  "fields": [
    {"id": 1, "name": "id", "required": true, "type": "long", "doc": "the key"},
    {"id": 2, "name": "point", "required": false, "type": {"type": "struct", "fields": [
      {"id": 3, "name": "x", "required": true, "type": "double", "initial-default": 0.0, "write-default": 1.5},
      {"id": 4, "name": "a.b", "required": false, "type": "string"}]}},
    {"id": 5, "name": "tags", "required": false,
     "type": {"type": "list", "element-id": 6, "element": "string", "element-required": false}},
    {"id": 7, "name": "attributes", "required": false,
     "type": {"type": "map", "key-id": 8, "key": "string", "value-id": 9, "value-required": true, "value":
       {"type": "struct", "fields": [{"id": 10, "name": "v", "required": false, "type": "decimal(9, 2)"}]}}}
  ]})json";

Schema Nested() { return *SchemaFromJson(*json::Parse(kNested)); }

TEST(ParsePrimitive, KnownNames_RoundTrip) {
  for (const char* text : {"boolean",
                           "int",
                           "long",
                           "float",
                           "double",
                           "date",
                           "time",
                           "timestamp",
                           "timestamptz",
                           "timestamp_ns",
                           "timestamptz_ns",
                           "string",
                           "uuid",
                           "binary",
                           "unknown",
                           "variant",
                           "decimal(9,2)",
                           "decimal(38,38)",
                           "decimal(1,0)",
                           "fixed[16]",
                           "geometry",
                           "geography",
                           "geometry(srid:4326)",
                           "geography(OGC:CRS84, karney)"}) {
    const auto type = ParsePrimitive(text);
    ASSERT_TRUE(type.has_value()) << text;
    EXPECT_EQ(ToString(*type), text);
    EXPECT_TRUE(type->is_primitive());
    EXPECT_TRUE(*ParsePrimitive(ToString(*type)) == *type);
  }
}

TEST(ParsePrimitive, BlanksAndCase_Accepted) {
  EXPECT_EQ(ToString(*ParsePrimitive("decimal( 9 , 2 )")), "decimal(9,2)");
  EXPECT_EQ(ToString(*ParsePrimitive("fixed[ 4 ]")), "fixed[4]");
  EXPECT_EQ(ToString(*ParsePrimitive("STRING")), "string");
}

TEST(ParsePrimitive, OtherTexts_RefusedWithTheRightCode) {
  for (const char* text : {"", "varchar", "decimal", "decimal9,2", "fixed", "timestamp_ps", "list", "struct<>"}) {
    EXPECT_EQ(ParsePrimitive(text).error().code, Code::kUnsupported) << text;
  }
  for (const char* text : {"decimal(39,2)", "decimal(0,0)", "decimal(9)", "decimal(9,-2)", "decimal(,)", "fixed[0]",
                           "fixed[x]", "fixed[99999999999]", "decimal(9,2,1)"}) {
    EXPECT_EQ(ParsePrimitive(text).error().code, Code::kCorrupt) << text;
  }
}

TEST(TypeEquality, Parameters_Count) {
  EXPECT_FALSE(*ParsePrimitive("decimal(9,2)") == *ParsePrimitive("decimal(10,2)"));
  EXPECT_FALSE(*ParsePrimitive("fixed[1]") == *ParsePrimitive("fixed[2]"));
  EXPECT_FALSE(*ParsePrimitive("geometry") == *ParsePrimitive("geometry(a)"));
  const Schema a = Nested(), b = Nested();
  for (std::size_t i = 0; i < a.fields().size(); ++i) EXPECT_TRUE(a.fields()[i].type == b.fields()[i].type);
  EXPECT_FALSE(a.fields()[1].type == a.fields()[2].type);
}

TEST(Schema, Lookups_FindNestedFields) {
  const Schema schema = Nested();
  EXPECT_EQ(schema.id(), SchemaId(7));
  EXPECT_EQ(schema.identifier_field_ids(), std::vector<FieldId>{1});
  const struct {
    FieldId id;
    const char* name;
    std::vector<FieldId> ancestors;
  } cases[] = {{1, "id", {}},
               {3, "point.x", {2}},
               {4, "point.a.b", {2}},
               {6, "tags.element", {5}},
               {8, "attributes.key", {7}},
               {10, "attributes.value.v", {7, 9}}};
  for (const auto& [id, name, ancestors] : cases) {
    EXPECT_EQ(schema.FullName(id), name);
    EXPECT_EQ(schema.Ancestors(id), ancestors);
    ASSERT_NE(schema.FindByName(name), nullptr) << name;
    EXPECT_EQ(schema.FindByName(name)->id, id);
  }
  EXPECT_EQ(schema.FindField(99), nullptr);
  EXPECT_EQ(schema.FindByName("point.y"), nullptr);
  EXPECT_EQ(schema.FindByName(""), nullptr);
  EXPECT_EQ(schema.FullName(99), "");
  EXPECT_EQ(schema.FindField(1)->doc, "the key");
  EXPECT_EQ(schema.FindField(3)->write_default->AsDouble(), 1.5);
}

TEST(Schema, Copies_ShareFieldsThatStayValid) {
  std::optional<Schema> original = Nested();
  const Schema copy = *original;
  const Field* field = copy.FindField(10);
  original.reset();
  EXPECT_EQ(field->name, "v");
  EXPECT_EQ(copy.FindField(10), field);
}

TEST(Schema, AmbiguousNames_FindNothing) {
  const Type text{.kind = TypeKind::kString};
  Type inner{.kind = TypeKind::kStruct};
  inner.fields = std::make_shared<const std::vector<Field>>(std::vector<Field>{{.id = 2, .name = "b", .type = text}});
  const auto schema =
      Schema::Make(SchemaId(0), {{.id = 1, .name = "a", .type = inner}, {.id = 3, .name = "a.b", .type = text}}, {});
  EXPECT_EQ(schema->FindByName("a.b"), nullptr);
  EXPECT_EQ(schema->FindByName("a")->id, 1);
}

TEST(Schema, BrokenTrees_Corrupt) {
  const Type number{.kind = TypeKind::kInt};
  EXPECT_EQ(
      Schema::Make(SchemaId(0), {{.id = 1, .name = "a", .type = number}, {.id = 1, .name = "b", .type = number}}, {})
          .error()
          .code,
      Code::kCorrupt);
  EXPECT_EQ(Schema::Make(SchemaId(0), {{.id = 1, .name = "a", .type = number}}, {2}).error().code, Code::kCorrupt);
  EXPECT_EQ(Schema::Make(SchemaId(0), {{.id = 1, .name = "a", .type = Type{.kind = TypeKind::kList}}}, {}).error().code,
            Code::kCorrupt);
}

TEST(SchemaJson, Written_ReadsBackEqual) {
  const Schema schema = Nested();
  const json::Value written = SchemaToJson(schema);
  const auto again = SchemaFromJson(written);
  ASSERT_TRUE(again.has_value()) << ToString(again.error());
  EXPECT_EQ(SchemaToJson(*again), written);
  EXPECT_EQ(
      json::Write(written).find(R"({"type":"struct","schema-id":7,"identifier-field-ids":[1],"fields":[{"id":1,)"), 0u);
}

TEST(SchemaJson, WrongMembers_ErrorsNameThem) {
  const struct {
    const char* json;
    Code code;
    const char* message;
  } cases[] = {
      {"[]", Code::kCorrupt, "no object"},
      {R"({"fields":[]})", Code::kCorrupt, "`type` is missing"},
      {R"({"type":"list","fields":[]})", Code::kCorrupt, "struct"},
      {R"({"type":"struct"})", Code::kCorrupt, "`fields`"},
      {R"({"type":"struct","fields":[{"name":"a","required":true,"type":"int"}]})", Code::kCorrupt, "`id` is missing"},
      {R"({"type":"struct","fields":[{"id":1,"required":true,"type":"int"}]})", Code::kCorrupt, "`name` is missing"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","type":"int"}]})", Code::kCorrupt, "`required` is missing"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","required":true}]})", Code::kCorrupt, "`type` is missing"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":5}]})", Code::kCorrupt, "field 1"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":"interval"}]})", Code::kUnsupported,
       "`interval`"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":{"type":"set"}}]})", Code::kUnsupported,
       "`set`"},
      {R"({"type":"struct","fields":[{"id":1,"name":"a","required":true,"type":{"type":"list","element":"int"}}]})",
       Code::kCorrupt, "`element-id` is missing"},
      {R"({"type":"struct","fields":[],"identifier-field-ids":[1]})", Code::kCorrupt, "identifier field 1"},
      {R"({"type":"struct","fields":[],"identifier-field-ids":["1"]})", Code::kCorrupt, "identifier-field-ids"},
  };
  for (const auto& [text, code, message] : cases) {
    const auto schema = SchemaFromJson(*json::Parse(text));
    ASSERT_FALSE(schema.has_value()) << text;
    EXPECT_EQ(schema.error().code, code) << text;
    EXPECT_NE(schema.error().message.find(message), std::string::npos) << schema.error().message;
  }
}

}  // namespace
}  // namespace firn::iceberg
