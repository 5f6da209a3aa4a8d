// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "api/news_pump.h"
#include "api/route.h"

namespace firn::api {

std::vector<Route> StreamRoutes() {
  return {{.method = "GET", .pattern = "/api/v1/stream", .answer = [](const Call& call) {
             // A reader asks for the rows once it has this; everything later comes by itself.
             return Response{.content_type = "text/event-stream",
                             .headers = {{"Cache-Control", "no-store"}, {"X-Accel-Buffering", "no"}},
                             .body = fmt::format("retry: 2000\n\nevent: hello\ndata: {{\"position\": {}}}\n\n",
                                                 call.fleet.Feed().Position()),
                             .stream = true};
           }}};
}

}  // namespace firn::api
