// SPDX-License-Identifier: Apache-2.0
#include "api/answer.h"
#include "api/route.h"
#include "ports/event_parse.h"

namespace firn::api {
namespace {

Response Accept(const Call& call, Result<ports::ParsedEvents> parsed) {
  if (!parsed) {
    // Too many events in one message are the sender's fault, not a matter of trying again.
    return parsed.error().code == Code::kLimit ? ErrorAnswer(413, CodeName(Code::kLimit), parsed.error().message)
                                               : ErrorAnswer(parsed.error());
  }
  std::int64_t accepted = 0;
  std::int64_t displaced = 0;
  for (ports::TableEvent& event : parsed->events) {
    // By its location a table is found also where the sender has another name for its catalog.
    if (!event.catalog.empty() && event.location.empty() && !call.fleet.Serves(event.catalog)) {
      ++parsed->ignored;
      continue;
    }
    ++accepted;
    if (!call.control.AcceptEvent(std::move(event))) ++displaced;
  }
  json::Value body = json::Value::Object();
  body.Set("accepted", accepted);
  body.Set("ignored", parsed->ignored);
  body.Set("displaced", displaced);
  return JsonAnswer(body, 202);
}

Response Webhook(const Call& call) { return Accept(call, ports::ParseWebhook(call.request.body)); }

Response Storage(const Call& call) { return Accept(call, ports::ParseStorageEvents(call.request.body)); }

Response CloudEvents(const Call& call) {
  const std::string* type = FindHeader(call.request.headers, "content-type");
  return Accept(call, ports::ParseCloudEvents(MediaType(type != nullptr ? *type : ""), call.request.headers,
                                              call.query.Text("catalog"), call.request.body));
}

/// Iceberg's clients expect 204.
Response Metrics(const Call& call) {
  const bool has_prefix = call.parts.size() == 3;
  const std::size_t at = has_prefix ? 1 : 0;
  std::string catalog = call.query.Text("catalog");
  if (catalog.empty() && has_prefix) catalog = call.parts[0];
  Response response =
      Accept(call, ports::ParseMetricsReport(catalog, call.parts[at], call.parts[at + 1], call.request.body));
  if (response.status == 202) response = {.status = 204};
  return response;
}

}  // namespace

std::vector<Route> EventRoutes() {
  const auto event = [](std::string pattern, std::vector<std::string_view> query, Response (*answer)(const Call&)) {
    return Route{.method = "POST",
                 .pattern = std::move(pattern),
                 .need = Need::kWrite,
                 .query = std::move(query),
                 .rate_limited = true,
                 .answer = answer};
  };
  return {event("/api/v1/events", {}, Webhook), event("/api/v1/events/cloudevents", {"catalog"}, CloudEvents),
          event("/api/v1/events/s3", {}, Storage),
          event("/v1/{prefix}/namespaces/{namespace}/tables/{table}/metrics", {"catalog"}, Metrics),
          event("/v1/namespaces/{namespace}/tables/{table}/metrics", {"catalog"}, Metrics)};
}

}  // namespace firn::api
