// SPDX-License-Identifier: Apache-2.0
//
// Names of tables and databases by pattern: "prod.sales.*", "prod.**", "*.staging.tmp_?".
//
// In: a pattern of levels joined by dots. `*` stands for any text of one level, `?` for one byte of it, a level `**`
//   for any number of levels, also none. A level that has a dot is written as in ports/dotted_name.h. Out: whether a
//   name (catalog, namespace levels, table, joined by dots) fits.
// Guarantees: letters count by case, as names in catalogs do. Cost: O(pattern * name) at worst, no recursion.
// Errors: kInvalidArgument for an empty level, or `**` beside other text.
// Threads: value type.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace firn::service {

class NameGlob {
 public:
  static Result<NameGlob> Parse(std::string_view pattern);
  bool Matches(std::string_view name) const;
  /// Whether a name of so many levels, or more, can fit.
  bool CanFit(std::size_t levels_min) const;

 private:
  std::vector<std::string> levels_;
};

/// "catalog.ns.name" of "catalog/ns.name", the ids of the API.
std::string DottedName(std::string_view id);

}  // namespace firn::service
