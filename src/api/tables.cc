// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>

#include "api/answer.h"
#include "api/route.h"
#include "api/row_json.h"

namespace firn::api {
namespace {

using Order = service::TableFilter::Order;

constexpr std::array<std::pair<std::string_view, Order>, 8> kOrders = {{
    {"worst", Order::kWorst},
    {"name", Order::kName},
    {"files", Order::kFiles},
    {"bytes", Order::kBytes},
    {"small_files", Order::kSmallFiles},
    {"removable_files", Order::kRemovableFiles},
    {"entropy", Order::kEntropy},
    {"last_commit", Order::kLastCommit},
}};

Result<service::TableFilter> FilterOf(const Query& query) {
  service::TableFilter filter{.search = query.Text("search")};
  if (const std::string sort = query.Text("sort"); !sort.empty()) {
    bool known = false;
    for (const auto& [word, order] : kOrders) {
      if (word == sort) {
        filter.order = order;
        known = true;
      }
    }
    if (!known) return Error{Code::kInvalidArgument, fmt::format("`sort` does not know {}", sort.substr(0, 64))};
  }
  if (const std::string state = query.Text("state"); !state.empty()) {
    filter.state = service::TableStateOf(state);
    if (!filter.state)
      return Error{Code::kInvalidArgument, fmt::format("`state` does not know {}", state.substr(0, 64))};
  }
  return filter;
}

Response ListTables(const Call& call) {
  const auto filter = FilterOf(call.query);
  if (!filter) return ErrorAnswer(filter.error());
  const auto page = call.query.Page();
  if (!page) return ErrorAnswer(page.error());
  return PageAnswer(call.fleet.Tables(*filter, *page), [](const service::TableRow& row) { return ToJson(row); });
}

Response ShowTable(const Call& call) {
  const auto table = call.fleet.Table(call.parts[0]);
  return table ? JsonAnswer(ToJson(*table)) : ErrorAnswer(table.error());
}

Response ShowAnalysis(const Call& call) {
  const auto analysis = call.fleet.Analysis(call.parts[0]);
  return analysis ? JsonAnswer(ToJson(*analysis)) : ErrorAnswer(analysis.error());
}

Response ListPartitions(const Call& call) {
  const auto page = call.query.Page();
  if (!page) return ErrorAnswer(page.error());
  return PageAnswer(call.fleet.Partitions(call.parts[0], *page),
                    [](const service::PartitionRow& row) { return ToJson(row); });
}

}  // namespace

std::vector<Route> TableRoutes() {
  return {
      {.method = "GET",
       .pattern = "/api/v1/tables",
       .query = {"sort", "search", "state", "limit", "after"},
       .answer = ListTables},
      {.method = "GET", .pattern = "/api/v1/tables/{id}", .answer = ShowTable},
      {.method = "GET", .pattern = "/api/v1/tables/{id}/analysis", .answer = ShowAnalysis},
      {.method = "GET",
       .pattern = "/api/v1/tables/{id}/partitions",
       .query = {"limit", "after"},
       .answer = ListPartitions},
  };
}

}  // namespace firn::api
