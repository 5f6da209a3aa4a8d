// SPDX-License-Identifier: Apache-2.0
//
// Puts the API, the dashboard and the stream of news on an address.
//
// In: the fleet to show and to control, an address, a token. Out: a port that answers until it is destroyed.
// Guarantees: `access.loopback` follows from the address alone, so that a service that can be reached from elsewhere
//   without a token only lets read.
// Cost: two threads and `worker_count` more. Errors: those of HttpServer::Start. Threads: any.
// Source: docs/api.md.
#pragma once

#include <memory>

#include "api/api.h"
#include "api/http_server.h"
#include "api/news_pump.h"

namespace firn::api {

struct ServeOptions {
  ServerOptions server = {};
  ApiOptions api = {};  // its `access.loopback` is set by the server's host
};

class ApiServer {
 public:
  /// Keeps references to fleet, control and clock.
  static Result<std::unique_ptr<ApiServer>> Start(service::FleetView& fleet, service::FleetControl& control,
                                                  ports::Clock& clock, ServeOptions options);
  ~ApiServer();
  int port() const { return server_->port(); }
  ServerCounts counts() const { return server_->counts(); }

 private:
  ApiServer() = default;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<NewsPump> pump_;
};

}  // namespace firn::api
