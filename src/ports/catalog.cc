// SPDX-License-Identifier: Apache-2.0
#include "ports/catalog.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace firn::ports {

std::string ToString(const TableIdentifier& id) {
  if (id.name_space.empty()) return id.name;
  return fmt::format("{}.{}", fmt::join(id.name_space, "."), id.name);
}

Result<TableIdentifier> ParseTableIdentifier(std::string_view text) {
  TableIdentifier id;
  std::size_t begin = 0;
  while (true) {
    const std::size_t dot = text.find('.', begin);
    const std::string_view part = text.substr(begin, dot == std::string_view::npos ? dot : dot - begin);
    if (part.empty()) {
      return Error{Code::kInvalidArgument,
                   fmt::format("`{}` is no table name: write NAMESPACE.TABLE, without empty parts", text)};
    }
    if (dot == std::string_view::npos) {
      id.name = part;
      return id;
    }
    id.name_space.emplace_back(part);
    begin = dot + 1;
  }
}

}  // namespace firn::ports
