// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/answer.h"
#include "api/route.h"

namespace firn::api {
namespace {

/// The table of the path, or of the body: `{}` and an empty body mean everything.
Result<std::string> TableOf(const Call& call) {
  if (!call.parts.empty()) return call.parts[0];
  if (call.request.body.empty()) return std::string();
  const auto parsed = json::Parse(call.request.body);
  if (!parsed || !parsed->is_object()) return Error{Code::kInvalidArgument, "the body is not a JSON object"};
  for (const auto& [name, value] : parsed->members()) {
    if (name != "table")
      return Error{Code::kInvalidArgument, fmt::format("`{}` is not known here", name.substr(0, 64))};
  }
  const json::Value* table = parsed->Find("table");
  if (table == nullptr) return std::string();
  if (table->AsString() == nullptr || table->AsString()->empty()) {
    return Error{Code::kInvalidArgument, "`table` is not the id of a table"};
  }
  return *table->AsString();
}

Response SetPaused(const Call& call, bool paused) {
  const auto table = TableOf(call);
  if (!table) return ErrorAnswer(table.error());
  const Status done = paused ? call.control.Pause(*table) : call.control.Resume(*table);
  if (!done) return ErrorAnswer(done.error());
  json::Value body = json::Value::Object();
  body.Set("paused", paused);
  body.Set("table", table->empty() ? json::Value() : json::Value(*table));
  return JsonAnswer(body);
}

Response Pause(const Call& call) { return SetPaused(call, true); }
Response Resume(const Call& call) { return SetPaused(call, false); }

}  // namespace

std::vector<Route> PauseRoutes() {
  return {
      {.method = "POST", .pattern = "/api/v1/pause", .need = Need::kWrite, .answer = Pause},
      {.method = "POST", .pattern = "/api/v1/resume", .need = Need::kWrite, .answer = Resume},
      {.method = "POST", .pattern = "/api/v1/tables/{id}/pause", .need = Need::kWrite, .answer = Pause},
      {.method = "POST", .pattern = "/api/v1/tables/{id}/resume", .need = Need::kWrite, .answer = Resume},
  };
}

}  // namespace firn::api
