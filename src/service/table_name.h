// SPDX-License-Identifier: Apache-2.0
//
// Finds the table that a person means.
//
// In: "catalog/ns.t", "ns.t" or "catalog.ns.t", and the tables that there are. Out: the id of one of them.
// Guarantees: an id is always that table; anything else is never guessed.
// Cost: one walk over the tables. Threads: pure.
// Errors: kNotFound; kInvalidArgument naming the tables that it may be.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firn::service {

struct TableName {
  std::string id;       // "catalog/ns.t"
  std::string catalog;  // "catalog"
  std::string name;     // "ns.t"
};

/// Whether a name can be shown and kept: it is UTF-8, as all names of Iceberg are. Names of directories need not be.
bool IsText(std::string_view name);

Result<std::string> FindTableId(std::string_view given, std::span<const TableName> tables);

}  // namespace firn::service
