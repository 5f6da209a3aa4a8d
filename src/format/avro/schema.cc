// SPDX-License-Identifier: Apache-2.0
#include "format/avro/schema.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "format/json/json.h"

namespace firn::avro {
namespace {

constexpr std::array<std::pair<std::string_view, Kind>, 8> kPrimitives{{
    {"null", Kind::kNull},
    {"boolean", Kind::kBoolean},
    {"int", Kind::kInt},
    {"long", Kind::kLong},
    {"float", Kind::kFloat},
    {"double", Kind::kDouble},
    {"bytes", Kind::kBytes},
    {"string", Kind::kString},
}};

Error Bad(std::string text) { return {Code::kCorrupt, "Avro schema: " + std::move(text)}; }

std::uint64_t AddCapped(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kCap = std::numeric_limits<std::uint64_t>::max() / 4;
  return std::min(kCap, std::min(a, kCap) + std::min(b, kCap));
}

bool IsVarint(Kind kind) { return kind == Kind::kInt || kind == Kind::kLong || kind == Kind::kEnum; }

bool IsBytes(Kind kind) { return kind == Kind::kBytes || kind == Kind::kString; }

/// Sums over the fields of a record; a null field has neither bytes nor varints.
void SetRecordShape(Schema& schema) {
  bool fixed = true, varints = true;
  std::uint64_t varint_count = 0;
  for (const Field& field : schema.fields) {
    const Schema& type = *field.type;
    fixed = fixed && type.skip_shape == SkipShape::kFixedSize;
    varints = varints && type.skip_shape == SkipShape::kVarints;
    varint_count += type.skip_count;
  }
  if (fixed) {
    schema.skip_shape = SkipShape::kFixedSize;
  } else if (varints) {
    schema.skip_shape = SkipShape::kVarints;
    schema.skip_count = static_cast<std::uint32_t>(std::min<std::uint64_t>(varint_count, kSchemaNodesMax));
  } else if (schema.fields.size() == 2 && IsVarint(schema.fields[0].type->kind) &&
             IsBytes(schema.fields[1].type->kind)) {
    schema.skip_shape = SkipShape::kVarintAndBytes;
  }
}

/// Fills the derived members. Children are complete.
void Derive(Schema& schema) {
  schema.node_count = 1;
  for (const Field& field : schema.fields) {
    schema.node_count = AddCapped(schema.node_count, field.type->node_count);
    schema.size_min = AddCapped(schema.size_min, field.type->size_min);
  }
  for (const SchemaPtr& branch : schema.branches) {
    schema.node_count = AddCapped(schema.node_count, branch->node_count);
  }
  if (schema.items) schema.node_count = AddCapped(schema.node_count, schema.items->node_count);
  switch (schema.kind) {
    case Kind::kNull: schema.skip_shape = SkipShape::kFixedSize; break;
    case Kind::kBoolean: schema.size_min = 1, schema.skip_shape = SkipShape::kFixedSize; break;
    case Kind::kFloat: schema.size_min = 4, schema.skip_shape = SkipShape::kFixedSize; break;
    case Kind::kDouble: schema.size_min = 8, schema.skip_shape = SkipShape::kFixedSize; break;
    case Kind::kFixed: schema.size_min = schema.size, schema.skip_shape = SkipShape::kFixedSize; break;
    case Kind::kInt:
    case Kind::kLong:
    case Kind::kEnum: schema.size_min = 1, schema.skip_shape = SkipShape::kVarints, schema.skip_count = 1; break;
    case Kind::kBytes:
    case Kind::kString:
    case Kind::kArray:
    case Kind::kMap: schema.size_min = 1; break;
    case Kind::kRecord: SetRecordShape(schema); break;
    case Kind::kUnion:
      schema.size_min = std::numeric_limits<std::uint64_t>::max();
      for (const SchemaPtr& branch : schema.branches) {
        schema.size_min = std::min(schema.size_min, AddCapped(1, branch->size_min));
      }
      break;
  }
}

class Parser {
 public:
  Result<SchemaPtr> Parse(const json::Value& value, const std::string& space, int depth);

 private:
  Result<SchemaPtr> ByName(const std::string& name, const std::string& space) const;
  Result<SchemaPtr> Object(const json::Value& value, const std::string& space, int depth);
  Result<SchemaPtr> Union(const json::Value& value, const std::string& space, int depth);
  Status Named(const json::Value& value, std::string space, Schema& schema, int depth);
  Status RecordFields(const json::Value& value, const std::string& space, Schema& schema, int depth);
  Result<SchemaPtr> Finish(Schema schema) const;

  std::unordered_map<std::string, SchemaPtr> named_;
  std::unordered_set<std::string> open_;  // records whose fields are being read
};

Result<SchemaPtr> Parser::Finish(Schema schema) const {
  Derive(schema);
  if (schema.node_count > kSchemaNodesMax) {
    return Error{Code::kUnsupported, "Avro schema: more than " + std::to_string(kSchemaNodesMax) + " values"};
  }
  return std::make_shared<const Schema>(std::move(schema));
}

Result<SchemaPtr> Parser::ByName(const std::string& name, const std::string& space) const {
  for (const auto& [text, kind] : kPrimitives) {
    if (name != text) continue;
    Schema schema;
    schema.kind = kind;
    return Finish(std::move(schema));
  }
  const bool is_full = name.find('.') != std::string::npos || space.empty();
  for (const std::string& full : {is_full ? name : space + "." + name, name}) {
    if (open_.contains(full)) {
      return Error{Code::kUnsupported, "Avro schema: type `" + full + "` contains itself"};
    }
    if (const auto found = named_.find(full); found != named_.end()) return found->second;
  }
  return Bad("unknown type `" + name + "`");
}

Result<SchemaPtr> Parser::Union(const json::Value& value, const std::string& space, int depth) {
  Schema schema;
  schema.kind = Kind::kUnion;
  for (const json::Value& branch : value.elements()) {
    FIRN_ASSIGN(SchemaPtr type, Parse(branch, space, depth + 1));
    if (type->kind == Kind::kUnion) return Bad("a union inside a union");
    schema.branches.push_back(std::move(type));
  }
  if (schema.branches.empty()) return Bad("a union of nothing");
  return Finish(std::move(schema));
}

Result<SchemaPtr> Parser::Parse(const json::Value& value, const std::string& space, int depth) {
  if (depth > kSchemaDepthMax) {
    return Error{Code::kUnsupported, "Avro schema: nested deeper than " + std::to_string(kSchemaDepthMax) + " levels"};
  }
  if (const std::string* name = value.AsString()) return ByName(*name, space);
  if (value.is_array()) return Union(value, space, depth);
  if (value.is_object()) return Object(value, space, depth);
  return Bad("a type is neither a name, nor a list, nor an object");
}

Result<SchemaPtr> Parser::Object(const json::Value& value, const std::string& space, int depth) {
  const json::Value* type = value.Find("type");
  if (type == nullptr) return Bad("`type` is missing");
  if (type->AsString() == nullptr) return Parse(*type, space, depth + 1);  // {"type": {"type": "int"}}
  const std::string& name = *type->AsString();
  Schema schema;
  if (const json::Value* logical = value.Find("logicalType"); logical && logical->AsString()) {
    schema.logical_type = *logical->AsString();
  }
  FIRN_ASSIGN(const auto precision, json::FindInt32(value, "precision"));
  FIRN_ASSIGN(const auto scale, json::FindInt32(value, "scale"));
  schema.precision = precision.value_or(0);
  schema.scale = scale.value_or(0);
  FIRN_ASSIGN(schema.element_id, json::FindInt32(value, "element-id"));
  FIRN_ASSIGN(schema.key_id, json::FindInt32(value, "key-id"));
  FIRN_ASSIGN(schema.value_id, json::FindInt32(value, "value-id"));
  if (name == "array" || name == "map") {
    schema.kind = name == "array" ? Kind::kArray : Kind::kMap;
    const json::Value* items = value.Find(name == "array" ? "items" : "values");
    if (items == nullptr) return Bad(name + " without a type for its items");
    FIRN_ASSIGN(schema.items, Parse(*items, space, depth + 1));
  } else if (name == "record" || name == "error" || name == "enum" || name == "fixed") {
    schema.kind = name == "enum" ? Kind::kEnum : name == "fixed" ? Kind::kFixed : Kind::kRecord;
    FIRN_TRY(Named(value, space, schema, depth));
    const std::string full = schema.name;
    FIRN_ASSIGN(SchemaPtr done, Finish(std::move(schema)));
    named_.emplace(full, done);
    return done;
  } else {
    FIRN_ASSIGN(const SchemaPtr plain, ByName(name, space));
    if (!plain->name.empty()) return plain;
    schema.kind = plain->kind;
  }
  return Finish(std::move(schema));
}

Status Parser::Named(const json::Value& value, std::string space, Schema& schema, int depth) {
  FIRN_ASSIGN(const std::string name, json::GetString(value, "name").In("Avro schema"));
  if (name.empty()) return Bad("empty name");
  FIRN_ASSIGN(const auto own_space, json::FindString(value, "namespace"));
  if (own_space) space = *own_space;
  if (const std::size_t dot = name.rfind('.'); dot != std::string::npos) space = name.substr(0, dot);
  schema.name = name.find('.') != std::string::npos || space.empty() ? name : space + "." + name;
  if (named_.contains(schema.name) || open_.contains(schema.name)) {
    return Bad("type `" + schema.name + "` is defined twice");
  }
  if (schema.kind == Kind::kFixed) {
    FIRN_ASSIGN(const std::int64_t size, json::GetInt64(value, "size").In("Avro schema"));
    if (size < 0 || size > std::numeric_limits<std::int32_t>::max()) return Bad("bad size of a fixed");
    schema.size = static_cast<std::uint64_t>(size);
  } else if (schema.kind == Kind::kEnum) {
    const json::Value* symbols = value.Find("symbols");
    if (symbols == nullptr || !symbols->is_array()) return Bad("enum without symbols");
    for (const json::Value& symbol : symbols->elements()) {
      if (symbol.AsString() == nullptr) return Bad("a symbol of an enum is no text");
      schema.symbols.push_back(*symbol.AsString());
    }
  } else {
    open_.insert(schema.name);
    FIRN_TRY(RecordFields(value, space, schema, depth));
    open_.erase(schema.name);
  }
  return Ok();
}

Status Parser::RecordFields(const json::Value& value, const std::string& space, Schema& schema, int depth) {
  const json::Value* fields = value.Find("fields");
  if (fields == nullptr || !fields->is_array()) return Bad("record `" + schema.name + "` without fields");
  std::unordered_set<std::string_view> names;
  for (const json::Value& member : fields->elements()) {
    if (!member.is_object()) return Bad("a field of record `" + schema.name + "` is no object");
    Field field;
    FIRN_ASSIGN(field.name, json::GetString(member, "name").In("Avro schema"));
    if (!names.insert(*member.Find("name")->AsString()).second) {
      return Bad("record `" + schema.name + "` has two fields `" + field.name + "`");
    }
    FIRN_ASSIGN(field.field_id, json::FindInt32(member, "field-id").In("Avro schema"));
    const json::Value* type = member.Find("type");
    if (type == nullptr) return Bad("field `" + field.name + "` has no type");
    FIRN_ASSIGN(field.type, Parse(*type, space, depth + 1));
    schema.fields.push_back(std::move(field));
  }
  return Ok();
}

}  // namespace

Result<SchemaPtr> ParseSchema(std::string_view json_text) {
  FIRN_ASSIGN(const json::Value value, json::Parse(json_text).In("Avro schema"));
  return Parser().Parse(value, "", 0);
}

std::string Describe(const Schema& schema) {
  constexpr std::array<std::string_view, 14> kNames{"null",   "boolean", "int",  "long",  "float", "double", "bytes",
                                                    "string", "record",  "enum", "array", "map",   "union",  "fixed"};
  std::string text(kNames[static_cast<std::size_t>(schema.kind)]);
  if (!schema.name.empty()) text += " " + schema.name;
  if (schema.kind == Kind::kFixed) text += " of " + std::to_string(schema.size) + " bytes";
  if (!schema.logical_type.empty()) text += " (" + schema.logical_type + ")";
  return text;
}

Option AsOption(const Schema& schema) {
  if (schema.kind != Kind::kUnion) return {&schema, -1};
  if (schema.branches.size() != 2) return {nullptr, -1};
  for (int null_branch = 0; null_branch < 2; ++null_branch) {
    const Schema& other = *schema.branches[static_cast<std::size_t>(1 - null_branch)];
    if (schema.branches[static_cast<std::size_t>(null_branch)]->kind == Kind::kNull && other.kind != Kind::kNull) {
      return {&other, null_branch};
    }
  }
  return {nullptr, -1};
}

}  // namespace firn::avro
