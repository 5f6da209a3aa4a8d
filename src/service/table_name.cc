// SPDX-License-Identifier: Apache-2.0
#include "service/table_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/human_text.h"
#include "iceberg/utf8.h"

namespace firn::service {

bool IsText(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const auto point = iceberg::CodePointAt(name, at);
    if (!point) return false;
    at += point->size_bytes;
  }
  return true;
}

Result<std::string> FindTableId(std::string_view given, std::span<const TableName> tables) {
  constexpr std::size_t kNamedMax = 8;
  std::vector<std::string_view> found;
  for (const TableName& table : tables) {
    if (given == table.id) return table.id;
    if (given == table.name || given == table.catalog + "." + table.name) found.push_back(table.id);
  }
  if (found.size() == 1) return std::string(found.front());
  if (found.empty()) {
    return Error{Code::kNotFound,
                 fmt::format("no table `{}`: write catalog/namespace.table or namespace.table; the service knows {}",
                             given, HumanCount(static_cast<std::int64_t>(tables.size()), "table"))};
  }
  std::ranges::sort(found);
  found.resize(std::min(found.size(), kNamedMax));
  return Error{Code::kInvalidArgument, fmt::format("`{}` may be {}", given, fmt::join(found, " or "))};
}

}  // namespace firn::service
