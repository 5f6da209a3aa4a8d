// SPDX-License-Identifier: Apache-2.0
#include "api/listen_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "api/http_server.h"

namespace firn::api {
namespace {

/// Connections that may wait to be accepted: a crowd that comes at once must not make the kernel drop others.
constexpr int kWaitingMax = 1'024;
/// What the kernel holds of an answer that is not read, where it would let it grow to megabytes.
constexpr int kSendBufferBytes = 128 << 10;

struct Address {
  sockaddr_storage storage{};
  socklen_t size = 0;
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
};

bool ParseAddress(const std::string& host, int port, Address& address) {
  auto* four = reinterpret_cast<sockaddr_in*>(&address.storage);
  if (::inet_pton(AF_INET, host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<std::uint16_t>(port));
    address.size = sizeof *four;
    return true;
  }
  auto* six = reinterpret_cast<sockaddr_in6*>(&address.storage);
  if (::inet_pton(AF_INET6, host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<std::uint16_t>(port));
    address.size = sizeof *six;
    return true;
  }
  return false;
}

std::string TextOf(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes =
      address.storage.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr)
          : &reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_addr;
  ::inet_ntop(address.storage.ss_family, bytes, text.data(), text.size());
  return text.data();
}

int PortOf(const Address& address) {
  return ntohs(address.storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address.storage)->sin_port);
}

}  // namespace

Result<ListenSocket> Listen(const std::string& host, int port) {
  Address address;
  const std::string text = fmt::format("{}:{}", host, port);
  if (port < 0 || port > 65'535 || !ParseAddress(host == "localhost" ? "127.0.0.1" : host, port, address)) {
    return Error{Code::kInvalidArgument, text + ": not an address to listen on"};
  }
  ListenSocket listener;
  listener.socket =
      ports::FileDescriptor(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.socket.valid()) return ports::PosixError(text, "make a socket", errno);
  const int on = 1;
  ::setsockopt(listener.socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener.socket.get(), address.get(), address.size) != 0 ||
      ::listen(listener.socket.get(), kWaitingMax) != 0) {
    return Error{Code::kInvalidArgument, fmt::format("{}: listen: {}", text, std::generic_category().message(errno))};
  }
  if (::getsockname(listener.socket.get(), address.get(), &address.size) != 0) {
    return ports::PosixError(text, "ask for the port", errno);
  }
  listener.port = PortOf(address);
  return listener;
}

ports::FileDescriptor AcceptClient(const ListenSocket& listener, std::string& client) {
  Address address;
  address.size = sizeof address.storage;
  ports::FileDescriptor socket(
      ::accept4(listener.socket.get(), address.get(), &address.size, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!socket.valid()) return socket;
  const int on = 1;
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kSendBufferBytes, sizeof kSendBufferBytes);
  client = TextOf(address);
  return socket;
}

bool IsAddress(std::string_view host) {
  Address address;
  return ParseAddress(std::string(host), 0, address);
}

bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "::1" || (host.starts_with("127.") && IsAddress(host));
}

}  // namespace firn::api
