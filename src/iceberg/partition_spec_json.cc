// SPDX-License-Identifier: Apache-2.0
#include "iceberg/partition_spec_json.h"

#include <fmt/format.h>

#include "iceberg/transform_source.h"

namespace firn::iceberg {
namespace {

constexpr FieldId kFirstPartitionFieldId = 1000;

}  // namespace

Result<TransformSource> TransformSourceFromJson(const json::Value& value) {
  FIRN_ASSIGN(const std::string text, json::GetString(value, "transform"));
  TransformSource source{.transform = ParseTransform(text)};
  FIRN_ASSIGN(const auto single, json::FindInt32(value, "source-id"));
  if (single) {
    source.source_id = *single;
    return source;
  }
  const json::Value* list = value.Find("source-ids");
  if (list == nullptr || !list->is_array() || list->elements().empty()) {
    return Error{Code::kCorrupt, "`source-id` is missing"};
  }
  const auto first = list->elements()[0].AsInt64();
  if (!first || *first != static_cast<FieldId>(*first)) {
    return Error{Code::kCorrupt, "`source-ids` holds something that is no field id"};
  }
  source.source_id = static_cast<FieldId>(*first);
  // No transform that is known here takes several columns: readable, never evaluated.
  if (list->elements().size() > 1) source.transform.kind = TransformKind::kUnknown;
  return source;
}

Result<std::vector<PartitionField>> PartitionFieldsFromJson(const json::Value& list) {
  if (!list.is_array()) return Error{Code::kCorrupt, "`fields` of a partition spec is no list"};
  std::vector<PartitionField> fields;
  fields.reserve(list.elements().size());
  for (const json::Value& element : list.elements()) {
    PartitionField field;
    FIRN_ASSIGN(field.name, json::GetString(element, "name").In("partition field"));
    const std::string where = fmt::format("partition field `{}`", field.name.substr(0, 80));
    FIRN_ASSIGN(TransformSource source, TransformSourceFromJson(element).In(where));
    field.source_id = source.source_id;
    field.transform = std::move(source.transform);
    FIRN_ASSIGN(const auto id, json::FindInt32(element, "field-id").In(where));
    field.field_id = id.value_or(kFirstPartitionFieldId + static_cast<FieldId>(fields.size()));
    fields.push_back(std::move(field));
  }
  return fields;
}

Result<PartitionSpec> PartitionSpecFromJson(const json::Value& value) {
  PartitionSpec spec;
  FIRN_ASSIGN(const std::int32_t id, json::GetInt32(value, "spec-id").In("partition spec"));
  spec.id = SpecId(id);
  const std::string where = fmt::format("partition spec {}", id);
  const json::Value* fields = value.Find("fields");
  if (fields == nullptr) return Error{Code::kCorrupt, where + ": `fields` is missing"};
  FIRN_ASSIGN(spec.fields, PartitionFieldsFromJson(*fields).In(where));
  return spec;
}

json::Value PartitionFieldsToJson(const std::vector<PartitionField>& fields) {
  json::Value list = json::Value::Array();
  for (const PartitionField& field : fields) {
    json::Value value = json::Value::Object();
    value.Set("name", field.name);
    value.Set("transform", field.transform.text);
    value.Set("source-id", field.source_id);
    value.Set("field-id", field.field_id);
    list.Append(std::move(value));
  }
  return list;
}

}  // namespace firn::iceberg
