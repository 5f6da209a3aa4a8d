// SPDX-License-Identifier: Apache-2.0
//
// Tells whether a table of the same name is still the same table.
//
// Guarantees: tables without uuid (v1) compare equal to anything.
// Errors: kConflict. Threads: pure. Source: Iceberg REST OpenAPI, AssertTableUUID.
#pragma once

#include <fmt/format.h>

#include "iceberg/metadata.h"

namespace firn::ports {

inline Status CheckSameTable(const iceberg::TableMetadata& base, const iceberg::TableMetadata& current) {
  const std::string& before = base.table_uuid();
  const std::string& after = current.table_uuid();
  if (before.empty() || after.empty() || before == after) return Ok();
  return Error{Code::kConflict,
               fmt::format("the table was dropped and created again: table-uuid was {}, now {}", before, after)};
}

}  // namespace firn::ports
