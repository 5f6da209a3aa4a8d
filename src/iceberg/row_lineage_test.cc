// SPDX-License-Identifier: Apache-2.0
#include "iceberg/row_lineage.h"

#include <gtest/gtest.h>

#include "iceberg/parquet_schema.h"
#include "iceberg/schema_json.h"

namespace firn::iceberg {
namespace {

using Kind = splice::ColumnSource::Kind;

Schema TableSchema() {
  constexpr std::string_view kText =
      R"({"type":"struct","schema-id":3,"fields":[{"id":1,"name":"a","required":false,"type":"int"}]})";
  return SchemaFromJson(json::Parse(kText).value()).value();
}

parquet::FileMetaData FileOf(const Schema& schema) {
  parquet::FileMetaData file;
  file.schema = ToParquetSchema(schema).value();
  return file;
}

Result<std::vector<splice::ColumnSource>> Sources(const parquet::FileMetaData& input, const DataFile& file) {
  const Schema schema = WithRowLineage(TableSchema()).value();
  const auto output = ToParquetSchema(schema).value();
  FIRN_ASSIGN(auto columns, ResolveColumns(schema, output, input, nullptr, {}, {}));
  FIRN_TRY(SetLineageSources(output, input, file, SequenceNumber(7), columns));
  return columns;
}

DataFile FileFrom(std::optional<std::int64_t> first_row_id) {
  DataFile file;
  file.file_path = "f.parquet";
  file.record_count = 10;
  file.first_row_id = first_row_id;
  return file;
}

TEST(WithRowLineage, Columns_AreThoseThatJavaWrites) {
  const auto elements = ToParquetSchema(WithRowLineage(TableSchema()).value()).value();
  ASSERT_EQ(elements.size(), 4U);
  EXPECT_EQ(elements[2].name, "_row_id");
  EXPECT_EQ(elements[2].field_id, 2147483540);
  EXPECT_EQ(elements[3].name, "_last_updated_sequence_number");
  EXPECT_EQ(elements[3].field_id, 2147483539);
  for (std::size_t i = 2; i < 4; ++i) {
    EXPECT_EQ(elements[i].type, parquet::PhysicalType::kInt64);
    EXPECT_EQ(elements[i].repetition, parquet::Repetition::kOptional);
    EXPECT_FALSE(elements[i].converted_type);
  }
}

TEST(SetLineageSources, FileWithoutTheColumns_ValuesAreMade) {
  const auto columns = Sources(FileOf(TableSchema()), FileFrom(40));
  ASSERT_TRUE(columns) << columns.error().message;
  ASSERT_EQ(columns->size(), 3U);
  EXPECT_EQ((*columns)[0].kind, Kind::kCopy);
  EXPECT_EQ((*columns)[1].kind, Kind::kRowId);
  EXPECT_EQ((*columns)[1].leaf, -1);
  EXPECT_EQ((*columns)[1].number, 40);
  EXPECT_EQ((*columns)[2].kind, Kind::kSequenceNumber);
  EXPECT_EQ((*columns)[2].leaf, -1);
  EXPECT_EQ((*columns)[2].number, 7);
}

TEST(SetLineageSources, StoredColumns_KeepTheirValuesAndFillNulls) {
  const auto columns = Sources(FileOf(WithRowLineage(TableSchema()).value()), FileFrom(0));
  ASSERT_TRUE(columns) << columns.error().message;
  EXPECT_EQ((*columns)[1].kind, Kind::kRowId);
  EXPECT_EQ((*columns)[1].leaf, 1);
  EXPECT_EQ((*columns)[1].number, 0);
  EXPECT_EQ((*columns)[2].kind, Kind::kSequenceNumber);
  EXPECT_EQ((*columns)[2].leaf, 2);
}

TEST(SetLineageSources, RequiredStoredColumn_IsCopied) {
  parquet::FileMetaData input = FileOf(WithRowLineage(TableSchema()).value());
  input.schema[2].repetition = parquet::Repetition::kRequired;
  const auto columns = Sources(input, FileFrom(5));
  ASSERT_TRUE(columns) << columns.error().message;
  EXPECT_EQ((*columns)[1].kind, Kind::kCopy);
  EXPECT_EQ((*columns)[2].kind, Kind::kSequenceNumber);
}

TEST(SetLineageSources, NoFirstRowId_ReadersSeeNull) {
  for (const Schema& stored : {TableSchema(), WithRowLineage(TableSchema()).value()}) {
    const auto columns = Sources(FileOf(stored), FileFrom(std::nullopt));
    ASSERT_TRUE(columns) << columns.error().message;
    for (std::size_t i = 1; i < 3; ++i) {
      EXPECT_EQ((*columns)[i].kind, Kind::kConstant);
      EXPECT_EQ((*columns)[i].leaf, -1);
      EXPECT_FALSE((*columns)[i].constant);
      EXPECT_FALSE((*columns)[i].number);
    }
  }
}

TEST(SetLineageSources, RowIdsOutOfRangeOrOfAnotherType_AreRefused) {
  for (const std::int64_t first : {std::int64_t{-1}, INT64_MAX - 9}) {
    EXPECT_EQ(Sources(FileOf(TableSchema()), FileFrom(first)).error().code, Code::kCorrupt);
  }
  EXPECT_TRUE(Sources(FileOf(TableSchema()), FileFrom(INT64_MAX - 10)));
  parquet::FileMetaData narrow = FileOf(WithRowLineage(TableSchema()).value());
  narrow.schema[2].type = parquet::PhysicalType::kInt32;
  EXPECT_EQ(Sources(narrow, FileFrom(1)).error().code, Code::kUnsupported);
}

TEST(SetLineageSources, OutputWithoutTheColumns_NothingChanges) {
  const Schema schema = TableSchema();
  const auto output = ToParquetSchema(schema).value();
  const parquet::FileMetaData input = FileOf(schema);
  auto columns = ResolveColumns(schema, output, input, nullptr, {}, {}).value();
  ASSERT_TRUE(SetLineageSources(output, input, FileFrom(3), SequenceNumber(1), columns));
  ASSERT_EQ(columns.size(), 1U);
  EXPECT_EQ(columns[0].kind, Kind::kCopy);
}

}  // namespace
}  // namespace firn::iceberg
