// SPDX-License-Identifier: Apache-2.0
#include "format/avro/schema.h"

#include <gtest/gtest.h>

#include <string>

#include "format/avro/encoder.h"

namespace firn::avro {
namespace {

SchemaPtr Parsed(std::string_view text) {
  auto schema = ParseSchema(text);
  EXPECT_TRUE(schema.has_value()) << ToString(schema.error());
  return schema ? *schema : nullptr;
}

TEST(ParseSchema, AttributesOfTableFormats_AreKept) {
  const SchemaPtr schema = Parsed(R"({"type":"record","name":"manifest_entry","fields":[
      {"name":"status","type":"int","field-id":0},
      {"name":"m","type":["null",{"type":"array","items":{"type":"record","name":"k117_v118","fields":[
          {"name":"key","type":"int","field-id":117},{"name":"value","type":"long","field-id":118}]},
          "logicalType":"map"}],"default":null,"field-id":108},
      {"name":"l","type":["null",{"type":"array","items":"long","element-id":133}],"field-id":132},
      {"name":"s","type":{"type":"map","values":"int","key-id":10,"value-id":11}},
      {"name":"d","type":{"type":"fixed","name":"decimal_9_2","size":4,"logicalType":"decimal","precision":9,
          "scale":2}}]})");
  ASSERT_EQ(schema->fields.size(), 5u);
  EXPECT_EQ(schema->name, "manifest_entry");
  EXPECT_EQ(schema->fields[0].field_id, 0);
  const Option map = AsOption(*schema->fields[1].type);
  EXPECT_EQ(map.null_branch, 0);
  EXPECT_EQ(map.value->logical_type, "map");
  EXPECT_EQ(map.value->items->fields[1].field_id, 118);
  EXPECT_EQ(AsOption(*schema->fields[2].type).value->element_id, 133);
  EXPECT_FALSE(schema->fields[3].field_id.has_value());
  EXPECT_EQ(schema->fields[3].type->key_id, 10);
  EXPECT_EQ(schema->fields[3].type->value_id, 11);
  EXPECT_EQ(schema->fields[4].type->precision, 9);
  EXPECT_EQ(schema->fields[4].type->size, 4u);
}

TEST(ParseSchema, NamesAreResolvedInTheirNamespace) {
  const SchemaPtr schema = Parsed(R"({"type":"record","name":"a.b.R","fields":[
      {"name":"f","type":{"type":"fixed","name":"F","size":3}},
      {"name":"g","type":"F"},{"name":"h","type":"a.b.F"},
      {"name":"i","type":{"type":"record","name":"S","namespace":"c","fields":[
          {"name":"j","type":{"type":"enum","name":"E","symbols":["X"]}},{"name":"k","type":"c.E"}]}},
      {"name":"l","type":{"type":"a.b.F"}}]})");
  EXPECT_EQ(schema->fields[1].type->name, "a.b.F");
  EXPECT_EQ(schema->fields[2].type, schema->fields[0].type);
  EXPECT_EQ(schema->fields[3].type->fields[1].type->name, "c.E");
  EXPECT_EQ(schema->fields[4].type->size, 3u);
}

TEST(ParseSchema, BadInput_IsAnError) {
  const std::pair<const char*, Code> cases[] = {
      {"", Code::kCorrupt},
      {"7", Code::kCorrupt},
      {R"("nothing")", Code::kCorrupt},
      {"[]", Code::kCorrupt},
      {R"(["null",["int"]])", Code::kCorrupt},
      {R"({"type":"array"})", Code::kCorrupt},
      {R"({"type":"record","name":"r"})", Code::kCorrupt},
      {R"({"type":"record","name":"r","fields":[{"name":"a"}]})", Code::kCorrupt},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})",
       Code::kCorrupt},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"int","field-id":9999999999}]})", Code::kCorrupt},
      {R"({"type":"fixed","name":"f","size":-1})", Code::kCorrupt},
      {R"(["null",{"type":"fixed","name":"f","size":1},{"type":"fixed","name":"f","size":2}])", Code::kCorrupt},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":["null","r"]}]})", Code::kUnsupported},
  };
  for (const auto& [text, code] : cases) {
    const auto schema = ParseSchema(text);
    ASSERT_FALSE(schema.has_value()) << text;
    EXPECT_EQ(schema.error().code, code) << text << ": " << schema.error().message;
  }
}

TEST(ParseSchema, TooDeepOrTooWide_IsUnsupported) {
  std::string deep = R"("int")";
  for (int i = 0; i < 100; ++i) deep = R"({"type":"array","items":)" + deep + "}";
  EXPECT_EQ(ParseSchema(deep).error().code, Code::kUnsupported);
  // Each record names the one before twice: 2^40 values from a short text.
  std::string wide = R"({"type":"record","name":"r0","fields":[{"name":"a","type":"int"}]})";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "\"r" + std::to_string(i - 1) + "\"";
    wide = R"({"type":"record","name":"r)" + std::to_string(i) + R"(","fields":[{"name":"a","type":)" + wide +
           R"(},{"name":"b","type":)" + before + "}]}";
  }
  EXPECT_EQ(ParseSchema(wide).error().code, Code::kUnsupported);
}

TEST(AsOption, OnlyUnionsOfNullAndOneType) {
  EXPECT_EQ(AsOption(*Parsed(R"(["int","null"])")).null_branch, 1);
  EXPECT_EQ(AsOption(*Parsed(R"("int")")).null_branch, -1);
  EXPECT_EQ(AsOption(*Parsed(R"(["int","long","null"])")).value, nullptr);
  EXPECT_EQ(AsOption(*Parsed(R"(["int","long"])")).value, nullptr);
}

struct SkipCase {
  const char* schema;
  Bytes value;
};

TEST(Skip, EveryKindOfValue_EndsBehindIt) {
  const SkipCase cases[] = {
      {R"("null")", {}},
      {R"("boolean")", {1}},
      {R"("double")", Bytes(8)},
      {R"("string")", {4, 'a', 'b'}},
      {R"({"type":"fixed","name":"f","size":3})", {1, 2, 3}},
      {R"({"type":"enum","name":"e","symbols":["A"]})", {0}},
      {R"(["null","string"])", {2, 2, 'x'}},
      {R"(["null","string"])", {0}},
      {R"({"type":"array","items":"long"})", {4, 0x80, 0x01, 1, 0}},
      {R"({"type":"array","items":"long"})", {3, 4, 9, 9, 2, 7, 0}},  // -2 items in 2 bytes, 1 item, end
      {R"({"type":"array","items":"null"})", {0xfe, 0xff, 0xff, 0xff, 0x0f, 0}},
      {R"({"type":"array","items":"float"})", {2, 0, 0, 0, 0, 0}},
      {R"({"type":"array","items":{"type":"record","name":"k","fields":[{"name":"key","type":"int"},
          {"name":"value","type":"bytes"}]}})",
       {4, 2, 4, 'a', 'b', 6, 0, 0}},
      {R"({"type":"map","values":"int"})", {4, 2, 'a', 1, 2, 'b', 3, 1, 6, 2, 'c', 3, 0}},
      {R"({"type":"record","name":"r","fields":[{"name":"a","type":"int"},{"name":"b","type":["null","int"]},
          {"name":"c","type":{"type":"array","items":["null","int"]}}]})",
       {2, 2, 4, 4, 0, 2, 8, 0}},
  };
  for (const SkipCase& test : cases) {
    const SchemaPtr schema = Parsed(test.schema);
    Bytes bytes = test.value;
    bytes.push_back(0x55);
    Cursor cursor(bytes);
    Skip(*schema, cursor);
    EXPECT_TRUE(cursor.ok()) << test.schema;
    EXPECT_EQ(cursor.offset(), test.value.size()) << test.schema;
    for (std::size_t size = 0; size < test.value.size(); ++size) {
      Cursor cut(ByteView(test.value).first(size));
      Skip(*schema, cut);
      EXPECT_FALSE(cut.ok()) << test.schema << " cut to " << size;
    }
  }
}

TEST(Skip, UnknownBranch_IsAFault) {
  const SchemaPtr schema = Parsed(R"(["null","string"])");
  for (const std::uint8_t branch : {std::uint8_t{4}, std::uint8_t{1}}) {
    const Bytes bytes{branch, 0};
    Cursor cursor(bytes);
    Skip(*schema, cursor);
    EXPECT_FALSE(cursor.ok());
  }
}

}  // namespace
}  // namespace firn::avro
