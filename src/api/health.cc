// SPDX-License-Identifier: Apache-2.0
#include "api/answer.h"
#include "api/route.h"

namespace firn::api {
namespace {

/// Alive: the process answers. Nothing that waits for a catalog or a disk belongs here.
Response Health(const Call&) {
  json::Value body = json::Value::Object();
  body.Set("status", "ok");
  return JsonAnswer(body);
}

Response Ready(const Call& call) {
  const service::Readiness readiness = call.fleet.Ready();
  json::Value body = json::Value::Object();
  body.Set("ready", readiness.ready);
  body.Set("reason", readiness.reason);
  return JsonAnswer(body, readiness.ready ? 200 : 503);
}

}  // namespace

std::vector<Route> HealthRoutes() {
  return {
      {.method = "GET", .pattern = "/health", .need = Need::kNothing, .quick = true, .answer = Health},
      {.method = "GET", .pattern = "/ready", .need = Need::kNothing, .quick = true, .answer = Ready},
  };
}

}  // namespace firn::api
