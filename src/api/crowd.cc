// SPDX-License-Identifier: Apache-2.0
#include "api/crowd.h"

#include <string_view>
#include <tuple>
#include <unordered_map>

namespace firn::api {

Connections::iterator LeastMissed(Connections& connections) {
  std::unordered_map<std::string_view, std::int64_t> of_address;
  for (const auto& [id, connection] : connections) ++of_address[connection.client()];
  auto chosen = connections.end();
  using Phase = Connection::Phase;
  const auto rank = [&](const Connection& connection) {
    const bool is_idle = (connection.idle() && connection.was_served) || connection.phase() == Phase::kLingering;
    return std::tuple(is_idle, of_address[connection.client()], -connection.waits_since_ms());
  };
  for (auto at = connections.begin(); at != connections.end(); ++at) {
    if (!at->second.waits_for_client()) continue;
    if (chosen == connections.end() || rank(at->second) > rank(chosen->second)) chosen = at;
  }
  return chosen;
}

}  // namespace firn::api
