// SPDX-License-Identifier: Apache-2.0
#include "iceberg/name_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "format/json/json.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {
namespace {

Result<std::vector<MappedField>> FieldsFromJson(const json::Value& list);

Result<MappedField> FieldFromJson(const json::Value& value) {
  MappedField field;
  FIRN_ASSIGN(field.id, json::FindInt32(value, "field-id"));
  const json::Value* names = value.Find("names");
  if (names == nullptr || !names->is_array()) return Error{Code::kCorrupt, "`names` is no list"};
  for (const json::Value& name : names->elements()) {
    if (!name.is_string()) return Error{Code::kCorrupt, "`names` holds something that is no string"};
    field.names.push_back(*name.AsString());
  }
  if (const json::Value* fields = value.Find("fields"); fields != nullptr && !fields->is_null()) {
    FIRN_ASSIGN(field.fields, FieldsFromJson(*fields));
  }
  return field;
}

Result<std::vector<MappedField>> FieldsFromJson(const json::Value& list) {
  if (!list.is_array()) return Error{Code::kCorrupt, "a level of the mapping is no list"};
  std::vector<MappedField> fields;
  std::unordered_set<std::string_view> names;
  fields.reserve(list.elements().size());
  for (const json::Value& element : list.elements()) {
    FIRN_ASSIGN(MappedField field, FieldFromJson(element));
    fields.push_back(std::move(field));
  }
  for (const MappedField& field : fields) {
    for (const std::string& name : field.names) {
      if (!names.insert(name).second) {
        return Error{Code::kCorrupt, fmt::format("name `{}` is mapped twice", name.substr(0, 80))};
      }
    }
  }
  return fields;
}

}  // namespace

Result<NameMapping> ParseNameMapping(std::string_view json_text) {
  constexpr std::string_view kWhere = "name mapping";
  FIRN_ASSIGN(const json::Value list, json::Parse(json_text).In(kWhere));
  NameMapping mapping;
  FIRN_ASSIGN(mapping.fields, FieldsFromJson(list).In(kWhere));
  return mapping;
}

Result<std::optional<NameMapping>> NameMappingOf(const TableMetadata& metadata) {
  const std::string json_text = metadata.Property("schema.name-mapping.default", "");
  if (json_text.empty()) return std::optional<NameMapping>();
  FIRN_ASSIGN(NameMapping mapping, ParseNameMapping(json_text));
  return std::optional(std::move(mapping));
}

const MappedField* FindMapped(const std::vector<MappedField>& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(), [name](const MappedField& field) {
    return std::find(field.names.begin(), field.names.end(), name) != field.names.end();
  });
  return found == fields.end() ? nullptr : &*found;
}

}  // namespace firn::iceberg
