// SPDX-License-Identifier: Apache-2.0
//
// Answers requests: finds the route, checks rights, rate and query, calls it.
//
// In: requests. Out: responses with the headers that keep browsers careful.
// Guarantees: nothing is read or changed before Refuse() let the head pass; a body is not read before either; what
//   comes faster than the rates is answered with 429 and has no effect. A fault inside an answer is a 500.
// Cost: a walk over some forty routes. Threads: any; Admit from one at a time.
// Errors: as responses. Source: docs/api.md.
#pragma once

#include <mutex>
#include <vector>

#include "api/authorize.h"
#include "api/http_server.h"
#include "api/rate_limit.h"
#include "api/route.h"
#include "ports/clock.h"
#include "service/fleet_view.h"

namespace firn::api {

struct ApiOptions {
  Access access = {};
  Rate event_rate_each = {.per_second = 200, .burst = 1'000};   // messages of one client
  Rate event_rate_all = {.per_second = 1'000, .burst = 5'000};  // of all together
};

class Api final : public RequestHandler {
 public:
  /// Keeps references.
  Api(service::FleetView& fleet, service::FleetControl& control, ports::Clock& clock, ApiOptions options);

  std::optional<Response> Admit(const Request& head) override;
  Response Handle(const Request& request) override;
  bool IsQuick(const Request& head) const override;

 private:
  struct Found {
    const Route* route = nullptr;
    std::vector<std::string> parts;
    std::string allowed;  // methods of the path, where the method is none of them
  };
  Found Find(const Request& request) const;
  std::int64_t NowMs();

  service::FleetView& fleet_;
  service::FleetControl& control_;
  ports::Clock& clock_;
  const ApiOptions options_;
  const std::vector<Route> routes_;
  std::mutex mutex_;
  RateLimit event_rate_;
};

}  // namespace firn::api
