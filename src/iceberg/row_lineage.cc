// SPDX-License-Identifier: Apache-2.0
#include "iceberg/row_lineage.h"

#include <string>
#include <utility>

#include "format/parquet/nesting.h"
#include "iceberg/parquet_schema.h"

namespace firn::iceberg {
namespace {

using splice::ColumnSource;

Field LongField(FieldId id, std::string name, std::string doc) {
  Field field;
  field.id = id;
  field.name = std::move(name);
  field.type.kind = TypeKind::kLong;
  field.doc = std::move(doc);
  return field;
}

bool IsRequired(const parquet::FileMetaData& input, std::int32_t leaf) {
  std::int32_t at = -1;
  for (std::size_t i = 1; i < input.schema.size(); ++i) {
    if (input.schema[i].num_children == 0 && ++at == leaf) {
      return input.schema[i].repetition == parquet::Repetition::kRequired;
    }
  }
  return false;
}

}  // namespace

Result<Schema> WithRowLineage(const Schema& schema) {
  std::vector<Field> fields = schema.fields();
  fields.push_back(LongField(kRowIdField, "_row_id", "Implicit row ID that is automatically assigned"));
  fields.push_back(LongField(kLastUpdatedSequenceNumberField, "_last_updated_sequence_number",
                             "Sequence number when the row was last updated"));
  return Schema::Make(schema.id(), std::move(fields), schema.identifier_field_ids());
}

Status SetLineageSources(const std::vector<parquet::SchemaElement>& output, const parquet::FileMetaData& input,
                         const DataFile& file, SequenceNumber data_sequence_number,
                         std::vector<ColumnSource>& columns) {
  std::int64_t end = 0;
  if (file.first_row_id &&
      (*file.first_row_id < 0 || __builtin_add_overflow(*file.first_row_id, file.record_count, &end))) {
    return Error{Code::kCorrupt, file.file_path + ": its first row id is out of range"};
  }
  FIRN_ASSIGN(const std::vector<parquet::NestNode> nodes, parquet::NestingOf(output));
  for (const parquet::NestNode& node : nodes) {
    const std::optional<FieldId> id = output[static_cast<std::size_t>(node.schema_index)].field_id;
    if (id != kRowIdField && id != kLastUpdatedSequenceNumberField) continue;
    ColumnSource& source = columns.at(static_cast<std::size_t>(node.leaf));
    if (source.kind == ColumnSource::Kind::kConvert) {
      return Error{Code::kUnsupported, file.file_path + ": its stored row ids are not of type long"};
    }
    if (!file.first_row_id) {
      source = ColumnSource();
      source.kind = ColumnSource::Kind::kConstant;
      continue;
    }
    const bool is_stored = source.kind == ColumnSource::Kind::kCopy;
    if (is_stored && IsRequired(input, source.leaf)) continue;
    source.constant.reset();
    if (!is_stored) source.leaf = -1;
    const bool is_row_id = id == kRowIdField;
    source.kind = is_row_id ? ColumnSource::Kind::kRowId : ColumnSource::Kind::kSequenceNumber;
    source.number = is_row_id ? *file.first_row_id : data_sequence_number.value;
  }
  return Ok();
}

}  // namespace firn::iceberg
