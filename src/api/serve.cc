// SPDX-License-Identifier: Apache-2.0
#include "api/serve.h"

#include <utility>

namespace firn::api {

Result<std::unique_ptr<ApiServer>> ApiServer::Start(service::FleetView& fleet, service::FleetControl& control,
                                                    ports::Clock& clock, ServeOptions options) {
  options.api.access.loopback = IsLoopback(options.server.host);
  std::unique_ptr<ApiServer> api(new ApiServer());
  auto handler = std::make_shared<Api>(fleet, control, clock, std::move(options.api));
  FIRN_ASSIGN(api->server_, HttpServer::Start(std::move(options.server), std::move(handler)));
  FIRN_ASSIGN(api->pump_, NewsPump::Start(fleet.Feed(), *api->server_));
  return api;
}

ApiServer::~ApiServer() {
  pump_.reset();
  if (server_) server_->Stop();
}

}  // namespace firn::api
