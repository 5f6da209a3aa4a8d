// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/answer.h"
#include "api/route.h"
#include "api/row_json.h"

namespace firn::api {
namespace {

Response ListJobs(const Call& call) {
  const auto page = call.query.Page();
  if (!page) return ErrorAnswer(page.error());
  service::JobFilter filter{.table = call.query.Text("table")};
  if (const std::string state = call.query.Text("state"); !state.empty()) {
    filter.state = service::JobStateOf(state);
    if (!filter.state) {
      return ErrorAnswer(Error{Code::kInvalidArgument, fmt::format("`state` does not know {}", state.substr(0, 64))});
    }
  }
  return PageAnswer(OfTable(call, filter.table, *page, call.fleet.Jobs(filter, *page)),
                    [](const service::JobRow& row) { return ToJson(row); });
}

Response ShowJob(const Call& call) {
  const auto job = call.fleet.Job(call.parts[0]);
  return job ? JsonAnswer(ToJson(*job)) : ErrorAnswer(job.error());
}

}  // namespace

std::vector<Route> JobRoutes() {
  return {
      {.method = "GET", .pattern = "/api/v1/jobs", .query = {"table", "state", "limit", "after"}, .answer = ListJobs},
      {.method = "GET", .pattern = "/api/v1/jobs/{id}", .answer = ShowJob},
  };
}

}  // namespace firn::api
