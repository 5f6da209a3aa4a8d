// SPDX-License-Identifier: Apache-2.0
#include "api/http_connection.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <iterator>

namespace firn::api {
namespace {

constexpr std::size_t kReadBytes = 32 << 10;
constexpr std::size_t kLingerMaxBytes = 4 << 20;

/// No value of ours may start another header.
std::string OneLine(std::string_view text) {
  std::string line(text);
  std::erase_if(line, [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
  return line;
}

}  // namespace

short Connection::events() const {
  switch (phase_) {
    case Phase::kReading: return static_cast<short>(POLLIN | (waiting_bytes() > 0 ? POLLOUT : 0));
    case Phase::kHandling:
    case Phase::kClosed: return 0;
    case Phase::kWriting: return POLLOUT;
    case Phase::kStreaming: return static_cast<short>(POLLIN | (waiting_bytes() > 0 ? POLLOUT : 0));
    case Phase::kLingering: return POLLIN;
  }
  return 0;
}

bool Connection::waits_for_client() const {
  return phase_ == Phase::kReading || phase_ == Phase::kLingering || (phase_ == Phase::kWriting && !stream_);
}

bool Connection::Read() {
  std::array<char, kReadBytes> buffer;
  const ssize_t count = ::recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
  if (count == 0) return false;
  const auto size = static_cast<std::size_t>(count);
  if (phase_ == Phase::kReading) parser.Feed({buffer.data(), size});
  if (phase_ == Phase::kLingering) {
    lingered_bytes_ += size;
    return lingered_bytes_ < kLingerMaxBytes;
  }
  return true;  // what a client sends into a stream is of no interest
}

bool Connection::Write() {
  const std::size_t before = written_;
  while (waiting_bytes() > 0) {
    const ssize_t count = ::send(fd(), output_.data() + written_, waiting_bytes(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) Close();
      break;
    }
    written_ += static_cast<std::size_t>(count);
  }
  const bool progress = written_ > before;
  if (waiting_bytes() == 0) {
    output_.clear();
    written_ = 0;
  } else if (written_ > output_.size() / 2) {
    output_.erase(0, written_);
    written_ = 0;
  }
  return progress;
}

void Connection::Answer(const Response& response, bool without_body, bool keep) {
  keep_ = keep && !response.stream;
  stream_ = response.stream;
  auto out = std::back_inserter(output_);
  fmt::format_to(out, "HTTP/1.1 {} {}\r\n", response.status, ReasonPhrase(response.status));
  if (!response.content_type.empty() && response.status != 304 && response.status != 204) {
    fmt::format_to(out, "Content-Type: {}\r\n", OneLine(response.content_type));
  }
  for (const auto& [name, value] : response.headers) fmt::format_to(out, "{}: {}\r\n", name, OneLine(value));
  if (!stream_ && response.status != 304 && response.status != 204) {
    fmt::format_to(out, "Content-Length: {}\r\n", response.body.size());
  }
  fmt::format_to(out, "Connection: {}\r\n\r\n", keep_ ? "keep-alive" : "close");
  if (!without_body && response.status != 304 && response.status != 204) output_ += response.body;
  phase_ = Phase::kWriting;
}

void Connection::StartLinger(std::int64_t deadline_ms) {
  ::shutdown(fd(), SHUT_WR);
  phase_ = Phase::kLingering;
  deadline_ms_ = deadline_ms;
}

}  // namespace firn::api
