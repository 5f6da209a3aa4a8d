// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/answer.h"
#include "api/route.h"
#include "api/row_json.h"
#include "decide/decision.h"

namespace firn::api {
namespace {

Response ListDecisions(const Call& call) {
  const auto page = call.query.Page();
  if (!page) return ErrorAnswer(page.error());
  const service::DecisionFilter filter{.table = call.parts.empty() ? call.query.Text("table") : call.parts[0],
                                       .partition = call.query.Text("partition"),
                                       .kind = call.query.Text("kind")};
  if (!filter.kind.empty() && !decide::ParseDecisionKind(filter.kind)) {
    return ErrorAnswer(
        Error{Code::kInvalidArgument, fmt::format("`kind` does not know {}", filter.kind.substr(0, 64))});
  }
  return PageAnswer(OfTable(call, filter.table, *page, call.fleet.Decisions(filter, *page)),
                    [](const service::DecisionRow& row) { return ToJson(row); });
}

}  // namespace

std::vector<Route> DecisionRoutes() {
  return {
      {.method = "GET",
       .pattern = "/api/v1/decisions",
       .query = {"table", "partition", "kind", "limit", "after"},
       .answer = ListDecisions},
      {.method = "GET",
       .pattern = "/api/v1/tables/{id}/decisions",
       .query = {"partition", "kind", "limit", "after"},
       .answer = ListDecisions},
  };
}

}  // namespace firn::api
