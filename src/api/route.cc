// SPDX-License-Identifier: Apache-2.0
#include "api/route.h"

#include <iterator>

#include "base/byte_text.h"

namespace firn::api {

std::optional<std::vector<std::string>> MatchPath(std::string_view pattern, std::string_view path) {
  std::vector<std::string> parts;
  while (true) {
    const std::string_view wanted = pattern.substr(0, pattern.find('/'));
    const std::string_view given = path.substr(0, path.find('/'));
    if (wanted.starts_with('{')) {
      auto part = PercentDecoded(given, /*plus_is_space=*/false);
      if (!part || part->empty()) return std::nullopt;
      parts.push_back(std::move(*part));
    } else if (wanted != given) {
      return std::nullopt;
    }
    const bool pattern_ends = wanted.size() == pattern.size();
    const bool path_ends = given.size() == path.size();
    if (pattern_ends || path_ends) return pattern_ends && path_ends ? std::optional(std::move(parts)) : std::nullopt;
    pattern.remove_prefix(wanted.size() + 1);
    path.remove_prefix(given.size() + 1);
  }
}

std::vector<Route> AllRoutes() {
  std::vector<Route> all;
  for (auto* add :
       {FleetRoutes, TableRoutes, DecisionRoutes, QueueRoutes, JobRoutes, OutcomeRoutes, RequestRoutes, PolicyRoutes,
        PauseRoutes, EventRoutes, HealthRoutes, MetricsRoutes, StreamRoutes, DocumentRoutes, DashboardRoutes}) {
    std::vector<Route> some = add();
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace firn::api
