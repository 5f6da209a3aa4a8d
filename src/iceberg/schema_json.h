// SPDX-License-Identifier: Apache-2.0
//
// Schemas and types as JSON: in table metadata, and in the header of a manifest.
//
// Guarantees: writes members in the order of the Java implementation; reading what was written gives an equal schema.
// Errors: kCorrupt for a missing or wrong member, with its field; kUnsupported for a type this version does not know.
// Threads: pure. Cost: O(fields).
// Source: Iceberg table spec, Appendix C, "Schemas".
#pragma once

#include "format/json/json.h"
#include "iceberg/types.h"

namespace firn::iceberg {

Result<Type> TypeFromJson(const json::Value& value);
json::Value TypeToJson(const Type& type);

/// A missing schema-id (v1) reads as 0.
Result<Schema> SchemaFromJson(const json::Value& value);
/// With schema-id; identifier-field-ids only when there are any.
json::Value SchemaToJson(const Schema& schema);

}  // namespace firn::iceberg
