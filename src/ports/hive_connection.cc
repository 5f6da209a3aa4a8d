// SPDX-License-Identifier: Apache-2.0
#include "ports/hive_connection.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace firn::ports {
namespace {

std::int64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// Waits until the socket can be read or written; kUnavailable after `end_ms`.
Status Await(int socket, short events, std::int64_t end_ms) {
  while (true) {
    pollfd wanted{socket, events, 0};
    const std::int64_t left_ms = end_ms - NowMs();
    const int ready = left_ms <= 0 ? 0 : ::poll(&wanted, 1, static_cast<int>(left_ms));
    if (ready > 0) return Ok();
    if (ready < 0 && errno == EINTR) continue;
    return Error{Code::kUnavailable, "no answer in time"};
  }
}

std::string ErrnoText(int number) { return std::strerror(number); }

/// What comes from the socket, until a time.
class SocketSource final : public SequentialSource {
 public:
  SocketSource(int socket, const std::string& place, std::int64_t end_ms)
      : socket_(socket), place_(place), end_ms_(end_ms) {}
  const std::string& name() const override { return place_; }
  Result<std::size_t> Read(std::span<std::uint8_t> out) override {
    while (true) {
      const ssize_t count = ::recv(socket_, out.data(), out.size(), 0);
      if (count > 0) return static_cast<std::size_t>(count);
      if (count == 0)
        return Error{Code::kUnavailable, "the server has closed the connection (it may want Kerberos or TLS)"};
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return Error{Code::kUnavailable, ErrnoText(errno)};
      FIRN_TRY(Await(socket_, POLLIN, end_ms_));
    }
  }

 private:
  int socket_;
  const std::string& place_;
  std::int64_t end_ms_;
};

Status Connect(int socket, const addrinfo& target, std::int64_t end_ms) {
  if (::connect(socket, target.ai_addr, target.ai_addrlen) == 0) return Ok();
  if (errno != EINPROGRESS && errno != EINTR) return Error{Code::kUnavailable, ErrnoText(errno)};
  FIRN_TRY(Await(socket, POLLOUT, end_ms));
  int fault = 0;
  socklen_t size = sizeof fault;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &fault, &size) != 0) fault = errno;
  if (fault != 0) return Error{Code::kUnavailable, ErrnoText(fault)};
  return Ok();
}

Result<FileDescriptor> ConnectFirst(const addrinfo* targets, std::int64_t end_ms) {
  Error fault{Code::kUnavailable, "no address"};
  for (const addrinfo* target = targets; target != nullptr; target = target->ai_next) {
    FileDescriptor made(::socket(target->ai_family, target->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made.valid()) {
      fault.message = ErrnoText(errno);
      continue;
    }
    Status connected = Connect(made.get(), *target, end_ms);
    if (!connected) {
      fault = std::move(connected.error());
      continue;
    }
    const int on = 1;
    ::setsockopt(made.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(made.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return made;
  }
  return fault;
}

}  // namespace

Result<std::unique_ptr<HiveConnection>> HiveConnection::Open(const HiveAddress& address, Options options) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  std::string place = fmt::format("thrift://{}:{}", is_v6 ? "[" + address.host + "]" : address.host, address.port);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int fault = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> targets(fault == 0 ? found : nullptr, &::freeaddrinfo);
  if (fault != 0) return Error{Code::kUnavailable, fmt::format("{}: {}", place, ::gai_strerror(fault))};
  auto socket = ConnectFirst(targets.get(), NowMs() + options.connect_timeout_ms);
  if (!socket) return std::move(socket.error()).In(place);
  return std::unique_ptr<HiveConnection>(new HiveConnection(std::move(*socket), std::move(place), options));
}

bool HiveConnection::IsIdle() const {
  if (!is_good_) return false;
  pollfd readable{socket_.get(), POLLIN, 0};
  return ::poll(&readable, 1, 0) == 0;
}

Status HiveConnection::Send(ByteView bytes, std::int64_t end_ms) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      FIRN_TRY(Await(socket_.get(), POLLOUT, end_ms));
    } else if (errno != EINTR) {
      return Error{Code::kUnavailable, ErrnoText(errno)};
    }
  }
  return Ok();
}

Result<thrift::Reply> HiveConnection::Call(std::string_view method, const thrift::Value& arguments) {
  const std::string context = fmt::format("{}: {}", place_, method);
  if (!is_good_) return Error{Code::kUnavailable, context + ": the connection was lost before"};
  is_good_ = false;
  const std::int64_t end_ms = NowMs() + options_.call_timeout_ms;
  const std::int32_t sequence = ++sequence_;
  if (Status sent = Send(thrift::EncodeCall(method, sequence, arguments), end_ms); !sent) {
    return std::move(sent.error()).In(context);
  }
  SocketSource source(socket_.get(), place_, end_ms);
  auto reply = thrift::DecodeReply(source, {});
  if (!reply) {
    // Whatever came was no reply: what became of the call is open.
    return Error{Code::kOutcomeUnknown, fmt::format("{}: {}", context, reply.error().message)};
  }
  if (reply->method != method || reply->sequence != sequence || reply->has_leftovers) {
    return Error{Code::kOutcomeUnknown, context + ": the reply is not that of the call"};
  }
  is_good_ = true;
  return reply;
}

}  // namespace firn::ports
