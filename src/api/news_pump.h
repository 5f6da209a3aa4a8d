// SPDX-License-Identifier: Apache-2.0
//
// Carries news of the fleet to everyone who listens to the stream.
//
// In: the feed. Out: server-sent events: "table", "decision", "job", "queue", "fleet" with {"table", "id"}, and "lost"
//   when some were overwritten before they could be sent.
// Guarantees: ends when the feed is closed or it is stopped; a sign of life every kBeatMs, so that proxies keep quiet
//   connections open.
// Threads: one of its own. Errors: kLimit: it cannot be started.
// Source: HTML standard, "Server-sent events".
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "api/http_server.h"
#include "service/fleet_news.h"

namespace firn::api {

inline constexpr std::int64_t kBeatMs = 15'000;

/// One event of the stream.
std::string StreamText(const service::News& news);

class NewsPump {
 public:
  static Result<std::unique_ptr<NewsPump>> Start(service::FleetNews& feed, HttpServer& server);
  ~NewsPump();

 private:
  NewsPump(service::FleetNews& feed, HttpServer& server);
  void Run();

  service::FleetNews& feed_;
  HttpServer& server_;
  std::uint64_t position_;
  std::atomic<bool> stopping_ = false;
  std::jthread thread_;  // the last one, so that it ends first
};

}  // namespace firn::api
