// SPDX-License-Identifier: Apache-2.0
//
// Serves HTTP/1.1 on one address: one thread moves bytes, a few threads answer.
//
// In: a handler. Out: a port that answers until Stop().
// Guarantees: memory, threads, connections, heads, bodies and times are bounded, whatever comes in; an idle or slow
//   connection holds no thread. When all connections are taken, one that waits for its client makes room: an idle one
//   first, then of the address that has most of them the one that has been slow for longest. So however many are slow,
//   a quick client is served. More requests than requests_max wait for nobody: they are answered with 503. Those that
//   the handler calls quick have a thread of their own.
//   What is broadcast never waits for a reader: one that falls behind by more than its buffer is disconnected.
// Cost: one poll() a round over all connections; meant for hundreds of them.
// Errors: kInvalidArgument for an address that cannot be used, or is in use; kLimit: a thread cannot be started.
// Threads: any. The handler is called from several threads at once; Admit and IsQuick from the one that moves bytes.
// Source: RFC 9112; docs/decisions/0005-own-http-server.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/http_message.h"
#include "api/http_parse.h"
#include "base/result.h"

namespace firn::api {

struct ServerOptions {
  std::string host = "127.0.0.1";  // "localhost", or an address of this machine
  int port = 0;                    // 0: any that is free
  int worker_count = 4;
  std::size_t connections_max = 256;  // at most half of the files that the process may have open
  std::size_t requests_max = 128;     // that wait for a thread; must be less than connections_max
  std::size_t streams_max = 64;
  std::size_t stream_buffer_max_bytes = 256 << 10;
  ParseLimits limits = {};
  std::int64_t head_timeout_ms = 10'000;
  std::int64_t body_timeout_ms = 30'000;
  std::int64_t idle_timeout_ms = 30'000;
  std::int64_t write_timeout_ms = 30'000;  // without any progress
};

class RequestHandler {
 public:
  virtual ~RequestHandler() = default;
  /// Sees the head before any of the body is read. An answer refuses the request, and the body is not read.
  virtual std::optional<Response> Admit(const Request& head) = 0;
  virtual Response Handle(const Request& request) = 0;
  /// Answered without waiting for anything, so that it need not wait behind what takes long.
  virtual bool IsQuick(const Request& head) const = 0;
};

struct ServerCounts {
  std::int64_t connections = 0;  // now
  std::int64_t streams = 0;      // now
  std::int64_t requests = 0;
  std::int64_t refused = 0;  // malformed, too large, not admitted
  std::int64_t timed_out = 0;
  std::int64_t streams_too_slow = 0;  // disconnected readers of the stream
  std::int64_t crowded_out = 0;       // slow ones that ended because all connections were taken
};

class HttpServer {
 public:
  static Result<std::unique_ptr<HttpServer>> Start(ServerOptions options, std::shared_ptr<RequestHandler> handler);
  virtual ~HttpServer() = default;
  virtual int port() const = 0;
  virtual void Broadcast(std::string_view text) = 0;
  virtual ServerCounts counts() const = 0;
  /// Waits for the handlers that run; what is not answered yet gets no answer.
  virtual void Stop() = 0;
};

/// "localhost", 127.0.0.0/8, "::1". Names are not looked up: any other one is not loopback.
bool IsLoopback(std::string_view host);
/// An IPv4 or IPv6 address, without brackets.
bool IsAddress(std::string_view host);

}  // namespace firn::api
