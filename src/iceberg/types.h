// SPDX-License-Identifier: Apache-2.0
//
// The types of the table format and the schema tree made of them.
//
// Guarantees: a Schema is immutable after Make(); field ids are unique in it.
// Cost: one node a field; look-up by id is O(1).
// Threads: immutable, share freely.
// Errors: kCorrupt for duplicate ids, kUnsupported for types this version does not know.
// Source: Iceberg table spec, "Schemas and Data Types", "Nested Types", "Default values".
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "format/json/json.h"

namespace firn::iceberg {

enum class TypeKind : std::uint8_t {
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kTimestampTz,
  kTimestampNs,
  kTimestampTzNs,
  kString,
  kUuid,
  kFixed,
  kBinary,
  kUnknown,
  kVariant,
  kGeometry,
  kGeography,
  kStruct,
  kList,
  kMap,
};

struct Field;

/// A type; nested types own their fields. Copy is deep through shared immutable children.
struct Type {
  TypeKind kind = TypeKind::kUnknown;
  std::int32_t precision = 0;  // decimal
  std::int32_t scale = 0;      // decimal
  std::int32_t length = 0;     // fixed
  std::string parameters{};    // geometry and geography: the text in parentheses, verbatim
  // struct: its fields; list: one field "element"; map: two fields "key", "value".
  std::shared_ptr<const std::vector<Field>> fields{};

  bool is_primitive() const { return kind < TypeKind::kStruct; }
  bool is_nested() const { return !is_primitive(); }
};

bool operator==(const Type& a, const Type& b);

struct Field {
  FieldId id = 0;
  std::string name{};
  bool required = false;
  Type type{};
  std::string doc{};
  std::optional<json::Value> initial_default{};
  std::optional<json::Value> write_default{};
};

/// "decimal(9,2)", "struct<...>": as the spec writes primitive types; nested ones for messages only.
std::string ToString(const Type& type);
/// Parses the text of a primitive type. kUnsupported for names that this version does not know.
Result<Type> ParsePrimitive(std::string_view text);

class Schema {
 public:
  static Result<Schema> Make(SchemaId id, std::vector<Field> fields, std::vector<FieldId> identifier_field_ids);

  SchemaId id() const { return id_; }
  const std::vector<Field>& fields() const { return *root_; }
  const std::vector<FieldId>& identifier_field_ids() const { return identifier_field_ids_; }

  /// Field by id at any depth (list elements, map keys and values included); null if there is none.
  const Field* FindField(FieldId id) const;
  /// Dotted full name of a field, for messages and metrics configuration.
  std::string FullName(FieldId id) const;
  /// Exact match on the dotted full name; null if there is none or it is ambiguous.
  const Field* FindByName(std::string_view full_name) const;
  /// Ids of the struct ancestors of `id`, outermost first; includes list and map fields on the way.
  std::vector<FieldId> Ancestors(FieldId id) const;

 private:
  SchemaId id_;
  std::shared_ptr<const std::vector<Field>> root_;
  std::vector<FieldId> identifier_field_ids_;
  std::unordered_map<FieldId, const Field*> by_id_;
  std::unordered_map<FieldId, FieldId> parent_;
};

}  // namespace firn::iceberg
