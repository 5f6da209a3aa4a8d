// SPDX-License-Identifier: Apache-2.0
//
// The property schema.name-mapping.default: field ids for files that have none.
//
// Guarantees: names with dots are single names; several names may map to one id; nested lists and maps use
//   "element", "key", "value".
// Errors: kCorrupt when a name is mapped twice on one level.
// Threads: value. Source: Iceberg table spec, "Name Mapping Serialization", "Column Projection".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"

namespace firn::iceberg {

class TableMetadata;

struct MappedField {
  std::optional<FieldId> id;
  std::vector<std::string> names;
  std::vector<MappedField> fields;
};

struct NameMapping {
  std::vector<MappedField> fields;
};

Result<NameMapping> ParseNameMapping(std::string_view json_text);
/// Of a table; nothing if it has none.
Result<std::optional<NameMapping>> NameMappingOf(const TableMetadata& metadata);
/// The mapped field of `name` among `fields`; null if there is none.
const MappedField* FindMapped(const std::vector<MappedField>& fields, std::string_view name);

}  // namespace firn::iceberg
