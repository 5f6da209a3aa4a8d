// SPDX-License-Identifier: Apache-2.0
//
// Describes what can be asked for: method, path, query, rights, and the function that answers.
//
// Guarantees: the table of routes is the only way in, and openapi.json names each of them (tested).
// Threads: routes are made once and read from any thread; their functions are called from several at once.
// Source: docs/api.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/authorize.h"
#include "api/http_message.h"
#include "api/query.h"
#include "service/fleet_view.h"

namespace firn::api {

/// One request on its way through a route.
struct Call {
  const Request& request;
  const std::vector<std::string>& parts;  // of the path, decoded: one for each {name} of the pattern
  const Query& query;
  service::FleetView& fleet;
  service::FleetControl& control;
};

struct Route {
  std::string method;
  std::string pattern;  // "/api/v1/tables/{id}/pause"
  Need need = Need::kRead;
  std::vector<std::string_view> query = {};
  bool rate_limited = false;
  bool quick = false;  // waits for nothing, and is not to wait for others
  std::function<Response(const Call&)> answer;
};

/// Rows of a table, `table` empty: of all. kNotFound where there are none and never can be: the table is not there.
/// One that has gone still has its rows.
template <class Row>
Result<service::Page<Row>> OfTable(const Call& call, std::string_view table, const service::PageOf& page,
                                   Result<service::Page<Row>> rows) {
  if (!rows || !rows->items.empty() || table.empty() || !page.after.empty()) return rows;
  FIRN_TRY(call.fleet.Table(table));
  return rows;
}

/// The parts of `path` if it has the pattern's shape.
std::optional<std::vector<std::string>> MatchPath(std::string_view pattern, std::string_view path);

std::vector<Route> FleetRoutes();      // /fleet
std::vector<Route> TableRoutes();      // /tables, one table, its partitions
std::vector<Route> DecisionRoutes();   // /decisions, of one table and of all
std::vector<Route> QueueRoutes();      // /queue
std::vector<Route> JobRoutes();        // /jobs
std::vector<Route> OutcomeRoutes();    // /outcomes
std::vector<Route> RequestRoutes();    // /requests
std::vector<Route> PolicyRoutes();     // /policies, /settings
std::vector<Route> PauseRoutes();      // pause and resume
std::vector<Route> EventRoutes();      // hints of changed tables
std::vector<Route> HealthRoutes();     // /health, /ready
std::vector<Route> MetricsRoutes();    // /metrics
std::vector<Route> StreamRoutes();     // /stream
std::vector<Route> DocumentRoutes();   // openapi.json
std::vector<Route> DashboardRoutes();  // the files of web/
std::vector<Route> AllRoutes();

}  // namespace firn::api
