// SPDX-License-Identifier: Apache-2.0
#include "api/answer.h"
#include "api/route.h"
#include "api/row_json.h"

namespace firn::api {

std::vector<Route> FleetRoutes() {
  return {{.method = "GET", .pattern = "/api/v1/fleet", .answer = [](const Call& call) {
             const auto summary = call.fleet.Summary();
             return summary ? JsonAnswer(ToJson(*summary)) : ErrorAnswer(summary.error());
           }}};
}

}  // namespace firn::api
