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

#include "ports/http.h"

namespace firn::ports {
namespace {

std::int64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

/// How long something is waited for: less when the program ends meanwhile.
struct Patience {
  std::int64_t end_ms;
  const std::atomic<bool>* stop;
  std::int64_t grace_ms;
  bool has_seen_stop = false;

  std::int64_t LeftMs() {
    if (!has_seen_stop && stop != nullptr && stop->load()) {
      has_seen_stop = true;
      end_ms = std::min(end_ms, NowMs() + grace_ms);
    }
    return end_ms - NowMs();
  }
};

/// Waits until the socket can be read or written; kUnavailable when patience is at its end.
Status Await(int socket, short events, Patience& patience) {
  constexpr std::int64_t kLookMs = 100;  // at the flag
  while (true) {
    const std::int64_t left_ms = patience.LeftMs();
    if (left_ms <= 0) break;
    pollfd wanted{socket, events, 0};
    const int ready = ::poll(&wanted, 1, static_cast<int>(std::min(left_ms, kLookMs)));
    if (ready > 0) return Ok();
    if (ready < 0 && errno != EINTR) return Error{Code::kUnavailable, std::strerror(errno)};
  }
  return Error{Code::kUnavailable, patience.has_seen_stop ? "no answer before the program ended" : "no answer in time"};
}

std::string ErrnoText(int number) { return std::strerror(number); }

/// What comes from the socket, until a time.
class SocketSource final : public SequentialSource {
 public:
  SocketSource(int socket, const std::string& place, Patience& patience)
      : socket_(socket), place_(place), patience_(patience) {}
  const std::string& name() const override { return place_; }
  Result<std::size_t> Read(std::span<std::uint8_t> out) override {
    while (true) {
      const ssize_t count = ::recv(socket_, out.data(), out.size(), 0);
      if (count > 0) return static_cast<std::size_t>(count);
      if (count == 0)
        return Error{Code::kUnavailable, "the server has closed the connection (it may want Kerberos or TLS)"};
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) return Error{Code::kUnavailable, ErrnoText(errno)};
      FIRN_TRY(Await(socket_, POLLIN, patience_));
    }
  }

 private:
  int socket_;
  const std::string& place_;
  Patience& patience_;
};

Status Connect(int socket, const addrinfo& target, Patience patience) {
  if (::connect(socket, target.ai_addr, target.ai_addrlen) == 0) return Ok();
  if (errno != EINPROGRESS && errno != EINTR) return Error{Code::kUnavailable, ErrnoText(errno)};
  FIRN_TRY(Await(socket, POLLOUT, patience));
  int fault = 0;
  socklen_t size = sizeof fault;
  if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &fault, &size) != 0) fault = errno;
  if (fault != 0) return Error{Code::kUnavailable, ErrnoText(fault)};
  return Ok();
}

Result<FileDescriptor> ConnectFirst(const addrinfo* targets, Patience patience) {
  Error fault{Code::kUnavailable, "no address"};
  std::int64_t count = 0;
  for (const addrinfo* target = targets; target != nullptr; target = target->ai_next) ++count;
  for (const addrinfo* target = targets; target != nullptr; target = target->ai_next) {
    FileDescriptor made(::socket(target->ai_family, target->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!made.valid()) {
      fault.message = ErrnoText(errno);
      continue;
    }
    Patience share = patience;
    share.end_ms = NowMs() + (patience.LeftMs() / std::max<std::int64_t>(count--, 1));
    Status connected = Connect(made.get(), *target, share);
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

Status Send(int socket, ByteView bytes, Patience& patience) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      FIRN_TRY(Await(socket, POLLOUT, patience));
    } else if (errno != EINTR) {
      return Error{Code::kUnavailable, ErrnoText(errno)};
    }
  }
  return Ok();
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
  auto socket = ConnectFirst(targets.get(), {NowMs() + options.connect_timeout_ms, options.stop, kReadGraceMs});
  if (!socket) return std::move(socket.error()).In(place);
  return std::unique_ptr<HiveConnection>(new HiveConnection(std::move(*socket), std::move(place), options));
}

bool HiveConnection::IsIdle() const {
  if (!is_good_) return false;
  pollfd readable{socket_.get(), POLLIN, 0};
  return ::poll(&readable, 1, 0) == 0;
}

Result<thrift::Reply> HiveConnection::Call(std::string_view method, const thrift::Value& arguments,
                                           std::int64_t grace_ms) {
  const std::string context = fmt::format("{}: {}", place_, method);
  if (!is_good_) return Error{Code::kUnavailable, context + ": the connection was lost before"};
  is_good_ = false;
  Patience patience{NowMs() + options_.call_timeout_ms, options_.stop, grace_ms};
  const std::int32_t sequence = ++sequence_;
  if (Status sent = Send(socket_.get(), thrift::EncodeCall(method, sequence, arguments), patience); !sent) {
    return std::move(sent.error()).In(context);
  }
  SocketSource source(socket_.get(), place_, patience);
  auto reply = thrift::DecodeReply(source, {});
  if (!reply) {
    // Whatever came was no reply: what became of the call is open.
    const Code code = reply.error().code == Code::kLimit ? Code::kLimit : Code::kOutcomeUnknown;
    return Error{code, fmt::format("{}: {}", context, reply.error().message)};
  }
  if (reply->method != method || reply->sequence != sequence || reply->has_leftovers) {
    return Error{Code::kOutcomeUnknown, context + ": the reply is not that of the call"};
  }
  is_good_ = true;
  return reply;
}

}  // namespace firn::ports
