// SPDX-License-Identifier: Apache-2.0
#include "api/rate_limit.h"

#include <algorithm>
#include <vector>

namespace firn::api {

bool RateLimit::Admit(std::string_view client, std::int64_t now_ms) {
  auto found = clients_.find(client);
  if (found == clients_.end()) {
    if (clients_.size() >= kClientsMax) {
      // Once every so many new clients: forget the half that has been silent longest.
      std::vector<std::int64_t> times;
      for (const auto& [name, bucket] : clients_) times.push_back(bucket.last_ms());
      std::nth_element(times.begin(), times.begin() + kClientsMax / 2, times.end());
      const std::int64_t middle_ms = times[kClientsMax / 2];
      std::erase_if(clients_, [&](const auto& item) { return item.second.last_ms() <= middle_ms; });
    }
    found = clients_.try_emplace(std::string(client), each_, now_ms).first;
  }
  if (!found->second.Has(now_ms) || !all_.Has(now_ms)) return false;
  found->second.Take();
  all_.Take();
  return true;
}

}  // namespace firn::api
