// SPDX-License-Identifier: Apache-2.0
#include "ports/catalog.h"

#include <fmt/format.h>

#include <utility>

#include "ports/dotted_name.h"

namespace firn::ports {

std::string ToString(const TableIdentifier& id) {
  if (id.name_space.empty()) return id.name;
  std::vector<std::string> levels = id.name_space;
  levels.push_back(id.name);
  return DottedName(levels);
}

Result<TableIdentifier> ParseTableIdentifier(std::string_view text) {
  auto levels = SplitDottedName(text);
  if (!levels) {
    return Error{Code::kInvalidArgument,
                 fmt::format("`{}` is no table name: write NAMESPACE.TABLE, without empty parts, and a part that has "
                             "a dot in quotation marks",
                             text)};
  }
  TableIdentifier id;
  id.name = std::move(levels->back());
  levels->pop_back();
  id.name_space = std::move(*levels);
  return id;
}

}  // namespace firn::ports
