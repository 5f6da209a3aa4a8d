// SPDX-License-Identifier: Apache-2.0
#include "api/answer.h"
#include "api/route.h"
#include "api/row_json.h"

namespace firn::api {

std::vector<Route> OutcomeRoutes() {
  return {{.method = "GET",
           .pattern = "/api/v1/outcomes",
           .query = {"table", "limit", "after"},
           .answer = [](const Call& call) {
             const auto page = call.query.Page();
             if (!page) return ErrorAnswer(page.error());
             const std::string table = call.query.Text("table");
             return PageAnswer(OfTable(call, table, *page, call.fleet.Outcomes(table, *page)),
                               [](const service::OutcomeRow& row) { return ToJson(row); });
           }}};
}

}  // namespace firn::api
