// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"

#include <exception>
#include <utility>

#include "api/answer.h"
#include "base/log.h"

namespace firn::api {
namespace {

/// HEAD is GET without the body, which the server leaves out.
std::string_view MethodOf(const Request& request) {
  if (request.method == "HEAD") return "GET";
  return request.method;
}

Response WithSafetyHeaders(Response response) {
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("X-Frame-Options", "DENY");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  return response;
}

}  // namespace

Api::Api(service::FleetView& fleet, service::FleetControl& control, ports::Clock& clock, ApiOptions options)
    : fleet_(fleet),
      control_(control),
      clock_(clock),
      options_(std::move(options)),
      routes_(AllRoutes()),
      event_rate_(options_.event_rate_each, options_.event_rate_all, clock.MonotonicNs() / 1'000'000) {}

std::int64_t Api::NowMs() { return clock_.MonotonicNs() / 1'000'000; }

Api::Found Api::Find(const Request& request) const {
  Found found;
  for (const Route& route : routes_) {
    auto parts = MatchPath(route.pattern, request.path);
    if (!parts) continue;
    if (route.method == MethodOf(request)) return {&route, std::move(*parts), ""};
    found.allowed += (found.allowed.empty() ? "" : ", ") + route.method;
  }
  return found;
}

std::optional<Response> Api::Admit(const Request& head) {
  const Found found = Find(head);
  // What is not there needs as much right as what is: a stranger learns nothing from the difference.
  const bool reads = MethodOf(head) == "GET";
  const Need need = found.route != nullptr ? found.route->need : (reads ? Need::kRead : Need::kWrite);
  if (auto refusal = Refuse(head, need, options_.access)) return WithSafetyHeaders(std::move(*refusal));
  if (found.route == nullptr) {
    if (found.allowed.empty()) return WithSafetyHeaders(ErrorAnswer(404, "not found", "there is nothing at this path"));
    Response response = ErrorAnswer(405, "invalid argument", "this path does not know that method");
    response.headers.emplace_back("Allow", found.allowed);
    return WithSafetyHeaders(std::move(response));
  }
  if (auto refusal = RefuseType(head, need)) return WithSafetyHeaders(std::move(*refusal));
  if (found.route->rate_limited) {
    const std::lock_guard lock(mutex_);
    if (!event_rate_.Admit(head.client, NowMs())) {
      Response response =
          ErrorAnswer(429, CodeName(Code::kLimit), "more events than the service takes; the sweep will find the rest");
      response.headers.emplace_back("Retry-After", "1");
      return WithSafetyHeaders(std::move(response));
    }
  }
  return std::nullopt;
}

bool Api::IsQuick(const Request& head) const {
  const Found found = Find(head);
  return found.route != nullptr && found.route->quick;
}

Response Api::Handle(const Request& request) {
  const Found found = Find(request);
  if (found.route == nullptr) return ErrorAnswer(404, "not found", "there is nothing at this path");
  const auto query = Query::Parse(request.query, found.route->query);
  if (!query) return WithSafetyHeaders(ErrorAnswer(query.error()));
  try {
    return WithSafetyHeaders(found.route->answer(
        {.request = request, .parts = found.parts, .query = *query, .fleet = fleet_, .control = control_}));
  } catch (const std::exception& fault) {
    // Memory that is used up ends this answer, not the service.
    Log(LogLevel::kError, std::string("api: ") + found.route->pattern + ": " + fault.what());
    return WithSafetyHeaders(ErrorAnswer(500, CodeName(Code::kInternal), "the answer could not be made"));
  }
}

}  // namespace firn::api
