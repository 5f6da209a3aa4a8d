// SPDX-License-Identifier: Apache-2.0
#include "act/delete_load_tables_test.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/json/from_string.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <parquet/arrow/writer.h>

#include <map>
#include <numeric>

#include "format/parquet/footer.h"
#include "format/puffin/puffin_writer.h"
#include "iceberg/deletion_vector.h"

namespace firn::act::testing {
namespace {

using ArrowType = std::shared_ptr<arrow::DataType>;

std::shared_ptr<arrow::Field> FieldOf(const std::string& name, FieldId id, std::string type, bool with_ids);

ArrowType StructOf(std::string_view fields, bool with_ids) {
  arrow::FieldVector children;
  while (!fields.empty()) {
    const std::size_t end = std::min(fields.find(", "), fields.size());
    const std::string field(fields.substr(0, end));
    fields.remove_prefix(std::min(end + 2, fields.size()));
    const std::size_t name = field.find(' '), type = field.find(' ', name + 1);
    children.push_back(FieldOf(field.substr(name + 1, type - name - 1), std::stoi(field.substr(0, name)),
                               field.substr(type + 1), with_ids));
  }
  return arrow::struct_(children);
}

ArrowType TypeOf(const std::string& type, bool with_ids) {
  static const std::map<std::string, ArrowType> types = {
      {"boolean", arrow::boolean()},
      {"int", arrow::int32()},
      {"long", arrow::int64()},
      {"float", arrow::float32()},
      {"double", arrow::float64()},
      {"string", arrow::utf8()},
      {"binary", arrow::binary()},
      {"date", arrow::date32()},
      {"time", arrow::time64(arrow::TimeUnit::MICRO)},
      {"timestamp", arrow::timestamp(arrow::TimeUnit::MICRO)},
      {"timestamptz", arrow::timestamp(arrow::TimeUnit::MICRO, "UTC")},
      {"fixed[3]", arrow::fixed_size_binary(3)},
      {"uuid", arrow::fixed_size_binary(16)},
      {"decimal(9,2)", arrow::decimal128(9, 2)},
      {"decimal(12,2)", arrow::decimal128(12, 2)},
      {"decimal(38,2)", arrow::decimal128(38, 2)},
      {"list<int>", arrow::list(arrow::int32())},
  };
  if (type.starts_with("struct<")) return StructOf(std::string_view(type).substr(7, type.size() - 8), with_ids);
  return types.at(type);
}

std::shared_ptr<arrow::Field> FieldOf(const std::string& name, FieldId id, std::string type, bool with_ids) {
  const bool required = type.ends_with('!');
  if (required) type.pop_back();
  auto field = arrow::field(name, TypeOf(type, with_ids), !required);
  if (with_ids) field = field->WithMetadata(arrow::key_value_metadata({"PARQUET:field_id"}, {std::to_string(id)}));
  return field;
}

}  // namespace

Bytes ParquetOf(const std::vector<Column>& columns, const FileShape& shape) {
  arrow::FieldVector fields;
  arrow::ArrayVector arrays;
  for (const Column& column : columns) {
    fields.push_back(FieldOf(column.name, column.id, column.type, shape.with_ids));
    auto array = arrow::json::ArrayFromJSONString(fields.back()->type(), column.json);
    EXPECT_TRUE(array.ok()) << column.name << ": " << array.status().ToString();
    arrays.push_back(array.ValueOrDie());
  }
  ::parquet::WriterProperties::Builder properties;
  properties.enable_store_decimal_as_integer();
  if (!shape.statistics) properties.disable_statistics();
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const arrow::Status written =
      ::parquet::arrow::WriteTable(*arrow::Table::Make(arrow::schema(fields), arrays), arrow::default_memory_pool(),
                                   sink, shape.row_group_rows, properties.build());
  EXPECT_TRUE(written.ok()) << written.ToString();
  const auto buffer = sink->Finish().ValueOrDie();
  return {buffer->data(), buffer->data() + buffer->size()};
}

std::string JsonList(const std::vector<std::int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ",")); }

std::string JsonTexts(const std::vector<std::string>& values) {
  return values.empty() ? "[]" : fmt::format("[\"{}\"]", fmt::join(values, "\",\""));
}

std::vector<Column> PositionColumns(const std::vector<std::pair<std::string, std::int64_t>>& rows) {
  std::vector<std::string> paths;
  std::vector<std::int64_t> positions;
  for (const auto& [path, position] : rows) {
    paths.push_back(path);
    positions.push_back(position);
  }
  return {{"file_path", 2147483546, "string!", JsonTexts(paths)}, {"pos", 2147483545, "long!", JsonList(positions)}};
}

iceberg::TableMetadata MetadataOf(const std::string& schemas, int current_schema_id, const std::string& specs,
                                  int format_version) {
  const std::string text = fmt::format(
      R"({{"format-version":{},"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"mem:/t",)"
      R"("last-sequence-number":0,"last-updated-ms":1700000000000,"last-column-id":99,"current-schema-id":{},)"
      R"("schemas":[{}],"default-spec-id":0,"partition-specs":[{}],"last-partition-id":1099,)"
      R"("default-sort-order-id":0,"sort-orders":[{{"order-id":0,"fields":[]}}],"next-row-id":0,"snapshots":[]}})",
      format_version, current_schema_id, schemas, specs);
  Result<iceberg::TableMetadata> metadata = iceberg::TableMetadata::Parse(AsBytes(text));
  EXPECT_TRUE(metadata.has_value()) << ToString(metadata.error());
  return std::move(*metadata);
}

DeleteLoadContext DeleteTable::context(std::int64_t memory_bytes, int threads) {
  return {.metadata = metadata_, .io = io_, .memory_bytes = memory_bytes, .threads = threads};
}

iceberg::DataFile DeleteTable::Put(const std::string& path, const Bytes& bytes, std::int32_t spec,
                                   iceberg::PartitionTuple partition) {
  io_.Put(path, bytes);
  MemorySource source(path, bytes);
  const auto footer = parquet::ReadFooter(source);
  EXPECT_TRUE(footer.has_value()) << ToString(footer.error());
  iceberg::DataFile file;
  file.file_path = path;
  file.spec_id = SpecId(spec);
  file.partition = std::move(partition);
  file.record_count = footer->num_rows;
  file.file_size_bytes = static_cast<std::int64_t>(bytes.size());
  return file;
}

iceberg::DeleteEntry DeleteTable::PutEquality(const std::string& path, const Bytes& bytes, std::vector<FieldId> ids,
                                              std::int64_t sequence_number, std::int32_t spec,
                                              iceberg::PartitionTuple partition) {
  iceberg::DataFile file = Put(path, bytes, spec, std::move(partition));
  file.content = iceberg::FileContent::kEqualityDeletes;
  file.equality_ids = std::move(ids);
  return {std::move(file), SequenceNumber(sequence_number)};
}

iceberg::DeleteEntry DeleteTable::PutPositions(const std::string& path,
                                               const std::vector<std::pair<std::string, std::int64_t>>& rows,
                                               const FileShape& shape) {
  iceberg::DataFile file = Put(path, ParquetOf(PositionColumns(rows), shape));
  file.content = iceberg::FileContent::kPositionDeletes;
  return {std::move(file), SequenceNumber(9)};
}

std::vector<iceberg::DeleteEntry> DeleteTable::PutVectors(
    const std::string& path, const std::vector<std::pair<std::string, roaring::PositionSet>>& vectors) {
  MemorySink sink(path);
  auto writer = puffin::Writer::Begin(sink);
  EXPECT_TRUE(writer.has_value());
  std::vector<iceberg::DeleteEntry> entries;
  for (const auto& [data_file, positions] : vectors) {
    const Result<Bytes> blob = iceberg::EncodeDeletionVector(positions);
    EXPECT_TRUE(blob.has_value());
    const auto added = writer->Add(iceberg::DeletionVectorMetadata(data_file, positions.cardinality()), *blob);
    EXPECT_TRUE(added.has_value());
    iceberg::DataFile file;
    file.content = iceberg::FileContent::kPositionDeletes;
    file.format = iceberg::FileFormat::kPuffin;
    file.file_path = path;
    file.record_count = positions.cardinality();
    file.referenced_data_file = data_file;
    file.content_offset = static_cast<std::int64_t>(added->offset);
    file.content_size_bytes = static_cast<std::int64_t>(added->length_bytes);
    entries.push_back({std::move(file), SequenceNumber(9)});
  }
  EXPECT_TRUE(writer->Finish({}).has_value());
  for (iceberg::DeleteEntry& entry : entries) {
    entry.file.file_size_bytes = static_cast<std::int64_t>(sink.bytes().size());
  }
  io_.Put(path, sink.bytes());
  return entries;
}

std::string SchemaOf(int id, const std::string& fields) {
  return fmt::format(R"({{"type":"struct","schema-id":{},"fields":[{}]}})", id, fields);
}

std::string FieldOf(FieldId id, const std::string& name, const std::string& type, const std::string& more) {
  return fmt::format(R"({{"id":{},"name":"{}","required":false,"type":{}{}}})", id, name,
                     type.starts_with('{') ? type : '"' + type + '"', more);
}

DeleteTable TableOf(const std::string& fields, int format_version) {
  return DeleteTable(MetadataOf(SchemaOf(0, fields), 0, R"({"spec-id":0,"fields":[]})", format_version));
}

}  // namespace firn::act::testing
