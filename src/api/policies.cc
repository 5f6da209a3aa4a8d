// SPDX-License-Identifier: Apache-2.0
#include "api/answer.h"
#include "api/route.h"
#include "api/row_json.h"

namespace firn::api {

std::vector<Route> PolicyRoutes() {
  return {
      {.method = "GET",
       .pattern = "/api/v1/policies",
       .answer =
           [](const Call& call) {
             return ListAnswer(call.fleet.Policies(), [](const service::PolicyRow& row) { return ToJson(row); });
           }},
      {.method = "GET",
       .pattern = "/api/v1/settings",
       .answer =
           [](const Call& call) {
             return ListAnswer(call.fleet.Settings(), [](const service::SettingRow& row) { return ToJson(row); });
           }},
  };
}

}  // namespace firn::api
