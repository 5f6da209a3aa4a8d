// SPDX-License-Identifier: Apache-2.0
#include "api/answer.h"
#include "api/route.h"
#include "api/row_json.h"

namespace firn::api {

std::vector<Route> QueueRoutes() {
  return {{.method = "GET", .pattern = "/api/v1/queue", .query = {"limit", "after"}, .answer = [](const Call& call) {
             const auto page = call.query.Page();
             if (!page) return ErrorAnswer(page.error());
             return PageAnswer(call.fleet.Queue(*page), [](const service::QueueRow& row) { return ToJson(row); });
           }}};
}

}  // namespace firn::api
