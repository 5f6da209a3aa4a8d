// SPDX-License-Identifier: Apache-2.0
#include "sim/parquet_rows.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/writer.h>

#include <memory>

namespace firn::sim {
namespace {

Error Failed(const arrow::Status& status) { return {Code::kInternal, status.ToString()}; }

#define SIM_TRY(expr)                                \
  do {                                               \
    const arrow::Status sim_status = (expr);         \
    if (!sim_status.ok()) return Failed(sim_status); \
  } while (false)

std::shared_ptr<arrow::Field> FieldWithId(const std::string& name, std::shared_ptr<arrow::DataType> type,
                                          int field_id) {
  return arrow::field(name, std::move(type), false,
                      arrow::key_value_metadata({"PARQUET:field_id"}, {std::to_string(field_id)}));
}

template <class Builder, class Values>
Result<std::shared_ptr<arrow::Array>> ArrayOf(const Values& values) {
  Builder builder;
  for (const auto& value : values) SIM_TRY(builder.Append(value));
  std::shared_ptr<arrow::Array> array;
  SIM_TRY(builder.Finish(&array));
  return array;
}

Result<Bytes> WriteTable(std::vector<std::shared_ptr<arrow::Field>> fields,
                         std::vector<std::shared_ptr<arrow::Array>> columns) {
  const auto table = arrow::Table::Make(arrow::schema(std::move(fields)), std::move(columns));
  auto sink = arrow::io::BufferOutputStream::Create();
  SIM_TRY(sink.status());
  SIM_TRY(parquet::arrow::WriteTable(*table, arrow::default_memory_pool(), *sink, 1024));
  auto buffer = (*sink)->Finish();
  SIM_TRY(buffer.status());
  return Bytes((*buffer)->data(), (*buffer)->data() + (*buffer)->size());
}

Result<std::shared_ptr<arrow::Table>> ReadTable(const Bytes& file) {
  auto source = std::make_shared<arrow::io::BufferReader>(
      std::make_shared<arrow::Buffer>(file.data(), static_cast<std::int64_t>(file.size())));
  auto reader = parquet::arrow::OpenFile(source, arrow::default_memory_pool());
  SIM_TRY(reader.status());
  auto table = (*reader)->ReadTable();
  SIM_TRY(table.status());
  auto combined = (*table)->CombineChunks();
  SIM_TRY(combined.status());
  return *combined;
}

template <class Array, class Visit>
Status ForEachValue(const arrow::Table& table, const std::string& name, Visit visit) {
  const auto column = table.GetColumnByName(name);
  if (column == nullptr) return Error{Code::kCorrupt, "no column " + name};
  for (const auto& chunk : column->chunks()) {
    const auto* array = dynamic_cast<const Array*>(chunk.get());
    if (array == nullptr) return Error{Code::kCorrupt, "column " + name + " has type " + chunk->type()->ToString()};
    for (std::int64_t i = 0; i < array->length(); ++i) {
      if (array->IsNull(i)) return Error{Code::kCorrupt, "null in " + name};
      visit(array->GetView(i));
    }
  }
  return Ok();
}

}  // namespace

Result<Bytes> WriteRows(const std::vector<Row>& rows) {
  std::vector<std::int64_t> ids;
  std::vector<std::int32_t> parts;
  for (const Row& row : rows) {
    ids.push_back(row.id);
    parts.push_back(row.part);
  }
  FIRN_ASSIGN(auto id_column, ArrayOf<arrow::Int64Builder>(ids));
  FIRN_ASSIGN(auto part_column, ArrayOf<arrow::Int32Builder>(parts));
  return WriteTable({FieldWithId("id", arrow::int64(), 1), FieldWithId("part", arrow::int32(), 2)},
                    {id_column, part_column});
}

Result<std::vector<Row>> ReadRows(const Bytes& file) {
  FIRN_ASSIGN(const auto table, ReadTable(file));
  std::vector<Row> rows;
  FIRN_TRY(ForEachValue<arrow::Int64Array>(*table, "id", [&](std::int64_t id) { rows.push_back({id, 0}); }));
  std::size_t at = 0;
  FIRN_TRY(ForEachValue<arrow::Int32Array>(*table, "part", [&](std::int32_t part) {
    if (at < rows.size()) rows[at++].part = part;
  }));
  if (at != rows.size()) return Error{Code::kCorrupt, "columns of different length"};
  return rows;
}

Result<std::vector<StoredLineage>> ReadLineage(const Bytes& file) {
  FIRN_ASSIGN(const auto table, ReadTable(file));
  std::vector<StoredLineage> rows(static_cast<std::size_t>(table->num_rows()));
  const auto read = [&](const std::string& name, std::optional<std::int64_t> StoredLineage::* member) -> Status {
    const auto column = table->GetColumnByName(name);
    if (column == nullptr) return Ok();
    std::size_t at = 0;
    for (const auto& chunk : column->chunks()) {
      const auto* longs = dynamic_cast<const arrow::Int64Array*>(chunk.get());
      if (longs == nullptr) return Error{Code::kCorrupt, name + " is not of type long"};
      for (std::int64_t i = 0; i < longs->length(); ++i, ++at) {
        if (!longs->IsNull(i)) rows[at].*member = longs->Value(i);
      }
    }
    return Ok();
  };
  FIRN_TRY(read("_row_id", &StoredLineage::row_id));
  FIRN_TRY(read("_last_updated_sequence_number", &StoredLineage::sequence_number));
  return rows;
}

Result<Bytes> WritePositions(const std::vector<Position>& positions) {
  std::vector<std::string> paths;
  std::vector<std::int64_t> rows;
  for (const auto& [path, row] : positions) {
    paths.push_back(path);
    rows.push_back(row);
  }
  constexpr int kPathId = 2147483546, kPosId = 2147483545;
  FIRN_ASSIGN(auto path_column, ArrayOf<arrow::StringBuilder>(paths));
  FIRN_ASSIGN(auto row_column, ArrayOf<arrow::Int64Builder>(rows));
  return WriteTable({FieldWithId("file_path", arrow::utf8(), kPathId), FieldWithId("pos", arrow::int64(), kPosId)},
                    {path_column, row_column});
}

Result<std::vector<Position>> ReadPositions(const Bytes& file) {
  FIRN_ASSIGN(const auto table, ReadTable(file));
  std::vector<Position> positions;
  FIRN_TRY(ForEachValue<arrow::StringArray>(
      *table, "file_path", [&](std::string_view path) { positions.emplace_back(std::string(path), 0); }));
  std::size_t at = 0;
  FIRN_TRY(ForEachValue<arrow::Int64Array>(*table, "pos", [&](std::int64_t row) { positions[at++].second = row; }));
  return positions;
}

Result<Bytes> WriteIds(const std::vector<std::int64_t>& ids) {
  FIRN_ASSIGN(auto column, ArrayOf<arrow::Int64Builder>(ids));
  return WriteTable({FieldWithId("id", arrow::int64(), 1)}, {column});
}

Result<std::vector<std::int64_t>> ReadIds(const Bytes& file) {
  FIRN_ASSIGN(const auto table, ReadTable(file));
  std::vector<std::int64_t> ids;
  FIRN_TRY(ForEachValue<arrow::Int64Array>(*table, "id", [&](std::int64_t id) { ids.push_back(id); }));
  return ids;
}

}  // namespace firn::sim
