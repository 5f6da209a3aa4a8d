// SPDX-License-Identifier: Apache-2.0
//
// Schemas and manifest entries that tests of metrics are about.
//
// Guarantees: field 1 is the one that has metrics; counts and bounds agree with each other.
// Threads: pure.
#pragma once

#include <cstdint>
#include <string>

#include "format/json/json.h"
#include "iceberg/literal.h"
#include "iceberg/manifest.h"
#include "iceberg/schema_json.h"

namespace firn::iceberg {

inline std::string F(int id, const std::string& name, const std::string& type) {
  const std::string quoted = type.front() == '{' ? type : "\"" + type + "\"";
  return R"({"id":)" + std::to_string(id) + R"(,"name":")" + name + R"(","required":false,"type":)" + quoted + "}";
}

inline Schema SchemaOf(const std::string& fields) {
  return SchemaFromJson(json::Parse(R"({"type":"struct","schema-id":0,"fields":[)" + fields + "]}").value()).value();
}

inline Bytes Int(std::int32_t value) {
  Type type;
  type.kind = TypeKind::kInt;
  return EncodeBound(type, value);
}

inline DataFile FileOf(std::int64_t rows, std::int64_t nulls = 0) {
  DataFile file;
  file.record_count = rows;
  file.value_counts = {{1, rows}};
  file.null_value_counts = {{1, nulls}};
  return file;
}

inline DataFile IntFile(std::int64_t rows, std::int64_t nulls, std::int32_t low, std::int32_t high) {
  DataFile file = FileOf(rows, nulls);
  file.lower_bounds = {{1, Int(low)}};
  file.upper_bounds = {{1, Int(high)}};
  return file;
}

}  // namespace firn::iceberg
