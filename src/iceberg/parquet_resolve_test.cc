// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "iceberg/parquet_schema.h"
#include "iceberg/schema_json.h"

namespace firn::iceberg {
namespace {

using splice::ColumnSource;

Schema SchemaOf(const std::string& fields) {
  const std::string text = R"({"type":"struct","schema-id":0,"fields":[)" + fields + "]}";
  return SchemaFromJson(json::Parse(text).value()).value();
}

std::string F(int id, const std::string& name, const std::string& type, const std::string& more = "") {
  const std::string quoted = type.front() == '{' ? type : "\"" + type + "\"";
  return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name + R"(","required":false,"type":)" + quoted + more +
         "}";
}

std::string Required(int id, const std::string& name, const std::string& type, const std::string& more = "") {
  std::string text = F(id, name, type, more);
  return text.replace(text.find("\"required\":false"), 16, "\"required\":true");
}

std::string Struct(const std::string& fields) { return R"({"type":"struct","fields":[)" + fields + "]}"; }

std::string List(int id, const std::string& element) {
  const std::string quoted = element.front() == '{' ? element : "\"" + element + "\"";
  return R"({"type":"list","element-id":)" + std::to_string(id) + R"(,"element-required":false,"element":)" + quoted +
         "}";
}

parquet::FileMetaData FileOf(const std::string& fields) {
  parquet::FileMetaData file;
  file.schema = ToParquetSchema(SchemaOf(fields)).value();
  return file;
}

void DropIds(parquet::FileMetaData& file) {
  for (parquet::SchemaElement& element : file.schema) element.field_id.reset();
}

struct Request {
  const NameMapping* mapping = nullptr;
  PartitionSpec spec;
  PartitionTuple partition;
};

Result<std::vector<ColumnSource>> Resolve(const std::string& table, const parquet::FileMetaData& file,
                                          const Request& request = {}) {
  const Schema schema = SchemaOf(table);
  return ResolveColumns(schema, ToParquetSchema(schema).value(), file, request.mapping, request.spec,
                        request.partition);
}

/// "copy 1, convert 0, null, 05 00": one source a leaf.
std::string Text(const Result<std::vector<ColumnSource>>& sources) {
  if (!sources) return std::string(CodeName(sources.error().code)) + ": " + sources.error().message;
  std::string text;
  for (const ColumnSource& source : *sources) {
    if (!text.empty()) text += ", ";
    if (source.kind == ColumnSource::Kind::kCopy) text += "copy " + std::to_string(source.leaf);
    if (source.kind == ColumnSource::Kind::kConvert) text += "convert " + std::to_string(source.leaf);
    if (source.kind != ColumnSource::Kind::kConstant) continue;
    text += source.constant ? "=" : "null";
    for (const std::uint8_t byte : source.constant.value_or(Bytes())) text += std::to_string(byte) + ".";
  }
  return text;
}

TEST(ResolveColumns, FieldsAreMatchedByIdWhateverTheirNames) {
  struct Case {
    const char* name;
    std::string table, file;
    const char* sources;
  };
  const Case cases[] = {
      {"same", F(1, "a", "int") + "," + F(2, "b", "string"), F(1, "a", "int") + "," + F(2, "b", "string"),
       "copy 0, copy 1"},
      {"renamed and reordered", F(2, "a", "string") + "," + F(1, "x", "int"),
       F(1, "a", "int") + "," + F(2, "b", "string"), "copy 1, copy 0"},
      {"dropped and added again", F(3, "a", "int"), F(1, "a", "int"), "null"},
      {"promoted", F(1, "a", "long") + "," + F(2, "b", "decimal(38,2)"),
       F(1, "a", "int") + "," + F(2, "b", "decimal(9,2)"), "convert 0, convert 1"},
      {"same physical decimal", F(1, "a", "decimal(18,2)"), F(1, "a", "decimal(10,2)"), "copy 0"},
      {"initial default", F(1, "a", "int") + "," + F(2, "b", "int", R"(,"initial-default":5)"), F(1, "a", "int"),
       "copy 0, =5.0.0.0."},
      {"required with default", Required(2, "b", "string", R"(,"initial-default":"hi")"), F(1, "a", "int"),
       "=104.105."},
      {"added to a struct",
       F(1, "s",
         Struct(F(2, "x", "int") + "," + F(3, "y", "int", R"(,"initial-default":1)") + "," +
                F(4, "z", Struct(F(5, "q", "int"))))),
       F(1, "s", Struct(F(2, "x", "int"))), "copy 0, =1.0.0.0., null"},
      {"new struct", F(1, "a", "int") + "," + F(2, "s", Struct(F(3, "x", "int") + "," + F(4, "l", List(5, "int")))),
       F(1, "a", "int"), "copy 0, null, null"},
      {"inside a list", F(1, "l", List(2, Struct(F(3, "n", "string") + "," + F(4, "x", "long")))),
       F(1, "l", List(2, Struct(F(4, "x", "int") + "," + F(5, "gone", "int")))), "null, convert 0"},
      {"unknown column", F(1, "a", "int") + "," + F(2, "u", "unknown"), F(1, "a", "int"), "copy 0"},
  };
  for (const Case& item : cases) EXPECT_EQ(Text(Resolve(item.table, FileOf(item.file))), item.sources) << item.name;
}

TEST(ResolveColumns, WhatCannotBeRead_IsRefusedWithColumnAndReason) {
  struct Case {
    std::string table, file;
    const char* reason;
  };
  const Case cases[] = {
      {Required(2, "b", "int"), F(1, "a", "int"), "column b: it is required, and the file has no value"},
      {F(1, "a", "int"), F(1, "a", "long"), "column a: int64 cannot become int32"},
      {F(1, "a", Struct(F(2, "x", "int"))), F(1, "a", "int"), "column a: the file nests it in another way"},
      {F(1, "s", Struct(F(3, "y", "int"))), F(1, "s", Struct(F(2, "x", "int"))),
       "column s: all its fields in the file were dropped from the table"},
      {F(1, "g", "geometry(srid:1)"), F(1, "g", "geometry"),
       "column g: its coordinate system or edge algorithm differs from the table's"},
      {F(1, "v", "variant"), F(1, "v", Struct(F(2, "x", "int"))), "column v: it is a variant on one side only"},
  };
  for (const Case& item : cases) {
    EXPECT_EQ(Text(Resolve(item.table, FileOf(item.file))),
              std::string(CodeName(Code::kUnsupported)) + ": " + item.reason);
  }
}

PartitionSpec IdentitySpec(FieldId source, const char* transform = "identity") {
  PartitionSpec spec;
  spec.fields.push_back({source, 1000, "p", ParseTransform(transform)});
  return spec;
}

TEST(ResolveColumns, IdentityPartitionValue_ComesBeforeTheDefault) {
  const std::string table = F(1, "a", "int") + "," + F(2, "p", "string", R"(,"initial-default":"no")");
  Request request;
  request.spec = IdentitySpec(2);
  request.partition.values = {std::string("x")};
  EXPECT_EQ(Text(Resolve(table, FileOf(F(1, "a", "int")), request)), "copy 0, =120.");
  EXPECT_EQ(Text(Resolve(table, FileOf(F(1, "a", "int") + "," + F(2, "p", "string")), request)), "copy 0, copy 1");
  request.partition.values = {std::monostate()};
  EXPECT_EQ(Text(Resolve(table, FileOf(F(1, "a", "int")), request)), "copy 0, null");
  request.spec = IdentitySpec(2, "truncate[4]");
  request.partition.values = {std::string("x")};
  EXPECT_EQ(Text(Resolve(table, FileOf(F(1, "a", "int")), request)), "copy 0, =110.111.");
}

TEST(ResolveColumns, FileWithoutIds_NeedsTheNameMapping) {
  const std::string table =
      F(1, "a", "int") + "," + F(2, "s", Struct(F(3, "x", "int"))) + "," + F(4, "l", List(5, Struct(F(6, "y", "int"))));
  parquet::FileMetaData file = FileOf(F(11, "old_a", "int") + "," + F(12, "l", List(15, Struct(F(16, "y", "int")))) +
                                      "," + F(13, "s", Struct(F(14, "x", "int"))) + "," + F(17, "other", "int"));
  DropIds(file);
  EXPECT_TRUE(Text(Resolve(table, file)).find("no field ids") != std::string::npos);
  const NameMapping mapping = ParseNameMapping(R"([
      {"field-id": 1, "names": ["a", "old_a"]},
      {"field-id": 2, "names": ["s"], "fields": [{"field-id": 3, "names": ["x"]}]},
      {"field-id": 4, "names": ["l"], "fields": [
        {"field-id": 5, "names": ["element"], "fields": [{"field-id": 6, "names": ["y"]}]}]}])")
                                  .value();
  Request request;
  request.mapping = &mapping;
  EXPECT_EQ(Text(Resolve(table, file, request)), "copy 0, copy 2, copy 1");
}

TEST(ResolveColumns, IdsOfTheFile_WinOverTheMapping) {
  parquet::FileMetaData file = FileOf(F(1, "a", "int") + "," + F(2, "b", "int"));
  file.schema[2].field_id.reset();  // partial ids: b is not there for Java either
  const NameMapping mapping =
      ParseNameMapping(R"([{"field-id": 1, "names": ["b"]}, {"field-id": 2, "names": ["b2"]}])").value();
  Request request;
  request.mapping = &mapping;
  EXPECT_EQ(Text(Resolve(F(1, "a", "int") + "," + F(2, "b", "int"), file, request)), "copy 0, null");
}

TEST(ResolveColumns, ElementsAndValues_AreMatchedByPlace) {
  parquet::FileMetaData file = FileOf(F(1, "l", List(2, "int")));
  file.schema[3].field_id.reset();
  file.schema[2].name = "bag";
  file.schema[3].name = "array_element";
  EXPECT_EQ(Text(Resolve(F(1, "l", List(2, "int")), file)), "copy 0");
}

TEST(ResolveColumns, SameIdTwice_IsRefused) {
  parquet::FileMetaData file = FileOf(F(1, "a", "int") + "," + F(2, "b", "int"));
  file.schema[2].field_id = 1;
  EXPECT_TRUE(Text(Resolve(F(1, "a", "int"), file)).find("two columns of the file have its id") != std::string::npos);
}

TEST(ResolveColumns, Variants_NeedTheSameLayout) {
  const Schema schema = SchemaOf(F(1, "v", "variant"));
  const auto plain = ToParquetSchema(schema).value();
  parquet::FileMetaData file, shredded;
  file.schema = plain;
  shredded.schema = plain;
  shredded.schema[1].num_children = 3;
  shredded.schema[3].repetition = parquet::Repetition::kOptional;
  parquet::SchemaElement typed;
  typed.name = "typed_value";
  typed.type = parquet::PhysicalType::kInt64;
  typed.repetition = parquet::Repetition::kOptional;
  shredded.schema.push_back(typed);
  const auto resolve = [&](const auto& output, const parquet::FileMetaData& input) {
    return Text(ResolveColumns(schema, output, input, nullptr, {}, {}));
  };
  EXPECT_EQ(resolve(plain, file), "copy 0, copy 1");
  EXPECT_NE(resolve(plain, shredded).find("shredded in another way"), std::string::npos);
  EXPECT_NE(resolve(shredded.schema, file).find("shredded in another way"), std::string::npos);
  EXPECT_EQ(resolve(shredded.schema, shredded), "copy 0, copy 1, copy 2");
  parquet::FileMetaData other = shredded;
  other.schema[4].type = parquet::PhysicalType::kInt32;
  EXPECT_NE(resolve(shredded.schema, other).find("shredded in another way"), std::string::npos);
  EXPECT_EQ(resolve(plain, FileOf(F(2, "x", "int"))), "null, null");
}

TEST(ResolveColumns, EncryptedFilesAndStoredRowIds_AreRefused) {
  parquet::FileMetaData encrypted = FileOf(F(1, "a", "int"));
  encrypted.encrypted = true;
  EXPECT_NE(Text(Resolve(F(1, "a", "int"), encrypted)).find("encrypted"), std::string::npos);
  const parquet::FileMetaData lineage = FileOf(F(1, "a", "int") + "," + F(kRowIdField, "_row_id", "long"));
  EXPECT_NE(Text(Resolve(F(1, "a", "int"), lineage)).find("row ids"), std::string::npos);
}

}  // namespace
}  // namespace firn::iceberg
