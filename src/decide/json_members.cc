// SPDX-License-Identifier: Apache-2.0
#include "decide/json_members.h"

#include <fmt/format.h>

#include <cmath>

namespace firn::decide {

Error Wrong(std::string_view member, std::string_view wanted) {
  return {Code::kCorrupt, fmt::format("`{}` is not {}", member, wanted)};
}

Result<double> GetDouble(const json::Value& object, std::string_view name) {
  const json::Value* member = object.Find(name);
  const auto value = member ? member->AsDouble() : std::nullopt;
  if (!value || !std::isfinite(*value)) return Wrong(name, "a number");
  return *value;
}

}  // namespace firn::decide
