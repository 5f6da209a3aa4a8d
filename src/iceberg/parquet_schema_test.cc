// SPDX-License-Identifier: Apache-2.0
#include "iceberg/parquet_schema.h"

#include <gtest/gtest.h>

#include "format/parquet/promotion.h"
#include "iceberg/geo_parameters.h"
#include "iceberg/plain_value.h"
#include "iceberg/schema_json.h"

namespace firn::iceberg {
namespace {

using parquet::LogicalKind;
using parquet::PhysicalType;
using parquet::SchemaElement;

Schema SchemaOf(const std::string& fields) {
  const std::string text = R"({"type":"struct","schema-id":0,"fields":[)" + fields + "]}";
  return SchemaFromJson(json::Parse(text).value()).value();
}

std::string FieldJson(int id, const std::string& name, const std::string& type, bool required = false) {
  const std::string quoted = type.front() == '{' ? type : "\"" + type + "\"";
  return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name + R"(","required":)" + (required ? "true" : "false") +
         R"(,"type":)" + quoted + "}";
}

/// "name id repetition type", one a line, indented by nothing: enough to compare whole trees.
std::string Text(const std::vector<SchemaElement>& elements) {
  std::string text;
  for (const SchemaElement& element : elements) {
    text += element.name;
    if (element.field_id) text += " " + std::to_string(*element.field_id);
    if (element.repetition) text += std::string(" ") + "!?*"[static_cast<int>(*element.repetition)];
    text += " " + parquet::TypeText(element);
    if (element.converted_type) text += " c" + std::to_string(*element.converted_type);
    if (element.num_children > 0) text += " {" + std::to_string(element.num_children) + "}";
    text += "\n";
  }
  return text;
}

TEST(ToParquetSchema, PrimitiveTypes_AreThoseOfTheSpec) {
  struct Case {
    const char* type;
    const char* text;
  };
  const Case cases[] = {
      {"boolean", "boolean"},
      {"int", "int32"},
      {"long", "int64"},
      {"float", "float"},
      {"double", "double"},
      {"decimal(9,2)", "int32 (decimal 9,2) c5"},
      {"decimal(10,0)", "int64 (decimal 10,0) c5"},
      {"decimal(18,18)", "int64 (decimal 18,18) c5"},
      {"decimal(19,2)", "fixed[9] (decimal 19,2) c5"},
      {"decimal(38,10)", "fixed[16] (decimal 38,10) c5"},
      {"date", "int32 (date) c6"},
      {"time", "int64 (time micros) c8"},
      {"timestamp", "int64 (timestamp micros, local) c10"},
      {"timestamptz", "int64 (timestamp micros, utc) c10"},
      {"timestamp_ns", "int64 (timestamp nanos, local)"},
      {"timestamptz_ns", "int64 (timestamp nanos, utc)"},
      {"string", "byte array (string) c0"},
      {"uuid", "fixed[16] (uuid)"},
      {"fixed[5]", "fixed[5]"},
      {"binary", "byte array"},
      {"geometry", "byte array (geometry)"},
      {"geography(srid:4269, karney)", "byte array (geography)"},
  };
  for (const Case& item : cases) {
    const auto elements = ToParquetSchema(SchemaOf(FieldJson(7, "c", item.type)));
    ASSERT_TRUE(elements) << elements.error().message;
    EXPECT_EQ(Text(*elements), "table group {1}\nc 7 ? " + std::string(item.text) + "\n");
  }
}

TEST(ToParquetSchema, NestedTypes_HaveIdsOnEveryNode) {
  const Schema schema =
      SchemaOf(FieldJson(1, "id", "long", true) + "," +
               FieldJson(2, "l", R"({"type":"list","element-id":3,"element-required":true,"element":"int"})") + "," +
               FieldJson(4, "m",
                         R"({"type":"map","key-id":5,"key":"string","value-id":6,"value-required":false,)"
                         R"("value":{"type":"struct","fields":[)" +
                             FieldJson(8, "x", "date") + "]}}",
                         true) +
               "," + FieldJson(9, "v", "variant") + "," + FieldJson(10, "nothing", "unknown"));
  const auto elements = ToParquetSchema(schema);
  ASSERT_TRUE(elements) << elements.error().message;
  EXPECT_EQ(Text(*elements),
            "table group {4}\n"
            "id 1 ! int64\n"
            "l 2 ? group (list) c3 {1}\n"
            "list * group {1}\n"
            "element 3 ! int32\n"
            "m 4 ! group (map) c1 {1}\n"
            "key_value * group {2}\n"
            "key 5 ! byte array (string) c0\n"
            "value 6 ? group {1}\n"
            "x 8 ? int32 (date) c6\n"
            "v 9 ? group (variant) {2}\n"
            "metadata ! byte array\n"
            "value ! byte array\n");
}

TEST(ToParquetSchema, OddNames_AreEscapedAsJavaDoes) {
  const auto elements = ToParquetSchema(
      SchemaOf(FieldJson(1, "a.b", "int") + "," + FieldJson(2, "1 x", "int") + "," + FieldJson(3, "Größe", "int")));
  ASSERT_TRUE(elements);
  EXPECT_EQ((*elements)[1].name, "a_x2Eb");
  EXPECT_EQ((*elements)[2].name, "_1_x20x");
  EXPECT_EQ((*elements)[3].name, "Größe");
  const auto twice = ToParquetSchema(SchemaOf(FieldJson(1, "a.b", "int") + "," + FieldJson(2, "a_x2Eb", "int")));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, Code::kUnsupported);
}

TEST(ToParquetSchema, GroupsWithoutStoredFields_AreUnsupported) {
  const auto empty = ToParquetSchema(
      SchemaOf(FieldJson(1, "s", R"({"type":"struct","fields":[)" + FieldJson(2, "u", "unknown") + "]}")));
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, Code::kUnsupported);
  const auto list = ToParquetSchema(
      SchemaOf(FieldJson(1, "l", R"({"type":"list","element-id":3,"element-required":false,"element":"unknown"})")));
  EXPECT_FALSE(list);
}

TEST(WithVariantLayouts, TakesTheTreeOfTheFirstInputThatHasTheColumn) {
  const Schema schema = SchemaOf(FieldJson(9, "v", "variant") + "," + FieldJson(2, "after", "int"));
  const std::vector<SchemaElement> plain = ToParquetSchema(schema).value();
  parquet::FileMetaData without, shredded;
  without.schema = ToParquetSchema(SchemaOf(FieldJson(2, "after", "int"))).value();
  shredded.schema = plain;
  shredded.schema[1].num_children = 3;
  shredded.schema[3].repetition = parquet::Repetition::kOptional;
  SchemaElement typed;
  typed.name = "typed_value";
  typed.type = PhysicalType::kInt64;
  typed.repetition = parquet::Repetition::kOptional;
  shredded.schema.insert(shredded.schema.begin() + 4, typed);
  EXPECT_EQ(Text(WithVariantLayouts(plain, {&without})), Text(plain));
  EXPECT_EQ(Text(WithVariantLayouts(plain, {&without, &shredded})), Text(shredded.schema));
  EXPECT_EQ(Text(WithVariantLayouts(shredded.schema, {&shredded})), Text(shredded.schema));
  parquet::FileMetaData unshredded;
  unshredded.schema = plain;
  EXPECT_EQ(Text(WithVariantLayouts(shredded.schema, {&unshredded})), Text(plain));
}

TEST(FooterMetadata, HasTheSchemaAsJson) {
  const Schema schema = SchemaOf(FieldJson(1, "id", "long", true));
  const auto metadata = FooterMetadata(schema);
  ASSERT_EQ(metadata.size(), 1U);
  EXPECT_EQ(metadata[0].key, "iceberg.schema");
  EXPECT_EQ(metadata[0].value,
            R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":true,"type":"long"}]})");
}

Type Geo(TypeKind kind, std::string parameters) {
  Type type;
  type.kind = kind;
  type.parameters = std::move(parameters);
  return type;
}

TEST(GeoParameters, RoundTripThroughTheAnnotation) {
  struct Case {
    Type type;
    const char* crs;
    std::int32_t algorithm;
  };
  const Case cases[] = {
      {Geo(TypeKind::kGeometry, ""), "OGC:CRS84", 0},
      {Geo(TypeKind::kGeometry, "OGC:CRS84"), "OGC:CRS84", 0},
      {Geo(TypeKind::kGeometry, " srid:3857 "), "srid:3857", 0},
      {Geo(TypeKind::kGeography, "srid:4326"), "srid:4326", 0},
      {Geo(TypeKind::kGeography, "srid:4326, Vincenty"), "srid:4326", 1},
      {Geo(TypeKind::kGeography, "srid:4326,karney"), "srid:4326", 4},
  };
  for (const Case& item : cases) {
    const auto parameters = GeoParametersOf(item.type);
    ASSERT_TRUE(parameters);
    EXPECT_EQ(parameters->crs, item.crs);
    EXPECT_EQ(parameters->algorithm, item.algorithm);
    parquet::LogicalType annotation;
    annotation.raw = EncodeGeoParameters(*parameters);
    EXPECT_EQ(GeoParametersOf(annotation), *parameters);
  }
  EXPECT_FALSE(GeoParametersOf(Geo(TypeKind::kGeography, "a, straight")));
}

TEST(PlainValue, EveryType_IsEncodedForItsColumn) {
  const auto element = [](const char* type) { return ToParquetSchema(SchemaOf(FieldJson(1, "c", type))).value()[1]; };
  struct Case {
    const char* type;
    Literal value;
    Bytes bytes;
  };
  const Case cases[] = {
      {"boolean", true, {1}},
      {"int", std::int32_t{-2}, {0xfe, 0xff, 0xff, 0xff}},
      {"date", std::int32_t{1}, {1, 0, 0, 0}},
      {"long", std::int32_t{-2}, {0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
      {"timestamp", std::int64_t{1}, {1, 0, 0, 0, 0, 0, 0, 0}},
      {"float", 1.0F, {0, 0, 0x80, 0x3f}},
      {"double", 1.0F, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
      {"double", 1.0, {0, 0, 0, 0, 0, 0, 0xf0, 0x3f}},
      {"string", std::string("hi"), {'h', 'i'}},
      {"binary", Bytes{1, 2}, {1, 2}},
      {"fixed[2]", Bytes{1, 2}, {1, 2}},
      {"decimal(4,2)", Decimal{-1}, {0xff, 0xff, 0xff, 0xff}},
      {"decimal(12,2)", Decimal{255}, {255, 0, 0, 0, 0, 0, 0, 0}},
      {"decimal(20,2)", Decimal{-256}, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0}},
  };
  for (const Case& item : cases) {
    const Result<Bytes> bytes = PlainValue(element(item.type), item.value);
    ASSERT_TRUE(bytes) << item.type;
    EXPECT_EQ(*bytes, item.bytes) << item.type;
  }
  const std::pair<const char*, Literal> refused[] = {
      {"int", std::int64_t{1}},
      {"timestamp", std::int32_t{1}},
      {"float", 1.0},
      {"string", std::int32_t{1}},
      {"fixed[2]", Bytes{1}},
      {"decimal(4,2)", std::int32_t{1}},
      {"decimal(4,2)", Decimal{__int128{1} << 40}},
      {"decimal(20,2)", Decimal{__int128{1} << 100}},
      {"long", std::monostate()},
  };
  for (const auto& [type, value] : refused) EXPECT_FALSE(PlainValue(element(type), value)) << type;
}

}  // namespace
}  // namespace firn::iceberg
