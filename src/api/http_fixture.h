// SPDX-License-Identifier: Apache-2.0
//
// A client over a real socket, and a handler that echoes, for tests of the server.
//
// Guarantees: no call of the client waits longer than it says. Threads: one client each.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>

#include "api/http_server.h"
#include "ports/posix.h"

namespace firn::api {

class Client {
 public:
  explicit Client(int port, int receive_buffer = 0) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    if (receive_buffer > 0) ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    connected_ = ::connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  bool connected() const { return connected_; }
  bool Send(std::string_view text) {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  /// What comes until `until` was seen, the end, or the time is up.
  std::string Read(std::string_view until, int wait_ms = 5'000) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(wait_ms);
    std::string text;
    ended_ = false;
    while (text.find(until) == std::string::npos) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      pollfd waited{socket_.get(), POLLIN, 0};
      if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left)) <= 0) break;
      std::array<char, 4096> buffer;
      const ssize_t count = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (count <= 0) {
        ended_ = true;
        break;
      }
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }
  bool ended() const { return ended_; }

 private:
  ports::FileDescriptor socket_;
  bool connected_ = false;
  bool ended_ = false;
};

class EchoHandler final : public RequestHandler {
 public:
  std::optional<Response> Admit(const Request& head) override {
    if (head.path == "/refused") return Response{.status = 403, .body = "no"};
    return std::nullopt;
  }
  Response Handle(const Request& request) override {
    ++handled;
    if (request.path == "/slow") std::this_thread::sleep_for(std::chrono::milliseconds(300));
    if (request.path == "/large") return {.content_type = "text/plain", .body = std::string(512 << 10, 'x')};
    if (request.path == "/stream")
      return {.content_type = "text/event-stream", .body = "event: hello\n\n", .stream = true};
    return {.content_type = "text/plain",
            .headers = {{"X-Odd", "a\r\nInjected: b"}},
            .body = request.method + " " + request.path + " [" + request.body + "]"};
  }
  bool IsQuick(const Request& head) const override { return head.path == "/health"; }
  std::atomic<int> handled = 0;
};

}  // namespace firn::api
