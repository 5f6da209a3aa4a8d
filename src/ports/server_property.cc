// SPDX-License-Identifier: Apache-2.0
#include "ports/server_property.h"

#include <fmt/format.h>

#include "ports/location.h"

namespace firn::ports {

Result<std::optional<ServerAddress>> ServerProperty(const Properties& properties,
                                                    std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const std::string* text = FindFirstProperty(properties, {key});
    if (!text) continue;
    const std::string_view scheme = SchemeOf(*text);
    if (!scheme.empty() && scheme != "http" && scheme != "https") {
      return Error{Code::kInvalidArgument, fmt::format("property `{}` must begin with http:// or https://", key)};
    }
    const std::string_view host = std::string_view(*text).substr(scheme.empty() ? 0 : scheme.size() + 3);
    return ServerAddress{scheme.empty() ? "https" : std::string(scheme), std::string(WithoutSlash(host))};
  }
  return std::optional<ServerAddress>();
}

}  // namespace firn::ports
