// SPDX-License-Identifier: Apache-2.0
#include "iceberg/schema_json.h"

#include <fmt/format.h>

namespace firn::iceberg {
namespace {

std::shared_ptr<const std::vector<Field>> Share(std::vector<Field> fields) {
  return std::make_shared<const std::vector<Field>>(std::move(fields));
}

Result<Field> FieldFromJson(const json::Value& value) {
  Field field;
  FIRN_ASSIGN(field.id, json::GetInt32(value, "id"));
  FIRN_ASSIGN(field.name, json::GetString(value, "name"));
  const std::string where = fmt::format("field {}", field.id);
  FIRN_ASSIGN(field.required, json::GetBool(value, "required").In(where));
  const json::Value* type = value.Find("type");
  if (type == nullptr) return Error{Code::kCorrupt, where + ": `type` is missing"};
  FIRN_ASSIGN(field.type, TypeFromJson(*type).In(where));
  FIRN_ASSIGN(const auto doc, json::FindString(value, "doc").In(where));
  field.doc = doc.value_or("");
  for (const auto& [name, slot] :
       {std::pair{"initial-default", &field.initial_default}, std::pair{"write-default", &field.write_default}}) {
    if (const json::Value* value_default = value.Find(name); value_default && !value_default->is_null()) {
      *slot = *value_default;
    }
  }
  return field;
}

Result<std::vector<Field>> FieldsFromJson(const json::Value& value) {
  const json::Value* list = value.Find("fields");
  if (list == nullptr || !list->is_array()) return Error{Code::kCorrupt, "`fields` of a struct is no list"};
  std::vector<Field> fields;
  fields.reserve(list->elements().size());
  for (const json::Value& element : list->elements()) {
    FIRN_ASSIGN(Field field, FieldFromJson(element));
    fields.push_back(std::move(field));
  }
  return fields;
}

/// The child `name` of a list or map: its id, whether it is required, its type.
Result<Field> ChildFromJson(const json::Value& value, const std::string& name, bool always_required) {
  Field field;
  field.name = name;
  FIRN_ASSIGN(field.id, json::GetInt32(value, name + "-id"));
  field.required = true;
  if (!always_required) {
    FIRN_ASSIGN(field.required, json::GetBool(value, name + "-required"));
  }
  const json::Value* type = value.Find(name);
  if (type == nullptr) return Error{Code::kCorrupt, fmt::format("`{}` is missing", name)};
  FIRN_ASSIGN(field.type, TypeFromJson(*type));
  return field;
}

Result<Type> NestedFromJson(const json::Value& value) {
  FIRN_ASSIGN(const std::string kind, json::GetString(value, "type"));
  std::vector<Field> fields;
  Type type;
  if (kind == "struct") {
    type.kind = TypeKind::kStruct;
    FIRN_ASSIGN(fields, FieldsFromJson(value));
  } else if (kind == "list") {
    type.kind = TypeKind::kList;
    FIRN_ASSIGN(Field element, ChildFromJson(value, "element", false));
    fields.push_back(std::move(element));
  } else if (kind == "map") {
    type.kind = TypeKind::kMap;
    FIRN_ASSIGN(Field key, ChildFromJson(value, "key", true));
    FIRN_ASSIGN(Field mapped, ChildFromJson(value, "value", false));
    fields.push_back(std::move(key));
    fields.push_back(std::move(mapped));
  } else {
    return Error{Code::kUnsupported, fmt::format("type `{}` is not known to this version", kind.substr(0, 80))};
  }
  type.fields = Share(std::move(fields));
  return type;
}

json::Value FieldToJson(const Field& field) {
  json::Value value = json::Value::Object();
  value.Set("id", field.id);
  value.Set("name", field.name);
  value.Set("required", field.required);
  value.Set("type", TypeToJson(field.type));
  if (!field.doc.empty()) value.Set("doc", field.doc);
  if (field.initial_default) value.Set("initial-default", *field.initial_default);
  if (field.write_default) value.Set("write-default", *field.write_default);
  return value;
}

json::Value FieldsToJson(const std::vector<Field>& fields) {
  json::Value list = json::Value::Array();
  for (const Field& field : fields) list.Append(FieldToJson(field));
  return list;
}

}  // namespace

Result<Type> TypeFromJson(const json::Value& value) {
  if (value.is_string()) return ParsePrimitive(*value.AsString());
  if (value.is_object()) return NestedFromJson(value);
  return Error{Code::kCorrupt, "a type is neither a name nor an object"};
}

json::Value TypeToJson(const Type& type) {
  if (!type.is_nested()) return json::Value(ToString(type));
  json::Value value = json::Value::Object();
  switch (type.kind) {
    case TypeKind::kList: {
      const Field& element = (*type.fields)[0];
      value.Set("type", "list");
      value.Set("element-id", element.id);
      value.Set("element", TypeToJson(element.type));
      value.Set("element-required", element.required);
      break;
    }
    case TypeKind::kMap: {
      const Field& key = (*type.fields)[0];
      const Field& mapped = (*type.fields)[1];
      value.Set("type", "map");
      value.Set("key-id", key.id);
      value.Set("key", TypeToJson(key.type));
      value.Set("value-id", mapped.id);
      value.Set("value", TypeToJson(mapped.type));
      value.Set("value-required", mapped.required);
      break;
    }
    default: value.Set("type", "struct"); value.Set("fields", FieldsToJson(*type.fields));
  }
  return value;
}

Result<Schema> SchemaFromJson(const json::Value& value) {
  if (!value.is_object()) return Error{Code::kCorrupt, "a schema is no object"};
  FIRN_ASSIGN(const std::string kind, json::GetString(value, "type").In("schema"));
  if (kind != "struct") return Error{Code::kCorrupt, "`type` of a schema is not \"struct\""};
  FIRN_ASSIGN(const auto id, json::FindInt32(value, "schema-id"));
  const std::string where = fmt::format("schema {}", id.value_or(0));
  FIRN_ASSIGN(auto fields, FieldsFromJson(value).In(where));
  std::vector<FieldId> identifiers;
  if (const json::Value* list = value.Find("identifier-field-ids"); list != nullptr && !list->is_null()) {
    if (!list->is_array()) return Error{Code::kCorrupt, where + ": `identifier-field-ids` is no list"};
    for (const json::Value& element : list->elements()) {
      const auto identifier = element.AsInt64();
      if (!identifier || *identifier != static_cast<FieldId>(*identifier)) {
        return Error{Code::kCorrupt, where + ": `identifier-field-ids` holds something that is no field id"};
      }
      identifiers.push_back(static_cast<FieldId>(*identifier));
    }
  }
  return Schema::Make(SchemaId(id.value_or(0)), std::move(fields), std::move(identifiers));
}

json::Value SchemaToJson(const Schema& schema) {
  json::Value value = json::Value::Object();
  value.Set("type", "struct");
  value.Set("schema-id", schema.id().value);
  if (!schema.identifier_field_ids().empty()) {
    json::Value list = json::Value::Array();
    for (const FieldId id : schema.identifier_field_ids()) list.Append(id);
    value.Set("identifier-field-ids", std::move(list));
  }
  value.Set("fields", FieldsToJson(schema.fields()));
  return value;
}

}  // namespace firn::iceberg
