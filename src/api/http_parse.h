// SPDX-License-Identifier: Apache-2.0
//
// Reads requests of HTTP/1.1 out of the bytes of a connection, as they come in.
//
// In: bytes in pieces of any size. Out: the head of a request, then its body, then the next request.
// Guarantees: never holds more than the limits; what could be understood in two ways (two lengths, a length and
//   chunks, line breaks inside headers, white space before a colon) is refused, so that nobody in front of us can
//   see another request than we do. Trailers are dropped.
// Cost: O(bytes).
// Errors: the status to answer with, in Problem; the connection is then of no more use.
// Threads: one owner.
// Source: RFC 9112; docs/decisions/0005-own-http-server.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/http_message.h"

namespace firn::api {

struct ParseLimits {
  std::size_t head_max_bytes = 16 << 10;
  std::size_t headers_max = 64;
  std::size_t body_max_bytes = 1 << 20;
};

struct Problem {
  int status = 400;
  std::string_view message;
};

class RequestParser {
 public:
  explicit RequestParser(ParseLimits limits) : limits_(limits) {}

  enum class State { kHead, kBody, kComplete, kBroken };
  /// Adds bytes; those after a complete request are kept for the next one.
  State Feed(std::string_view bytes);
  /// After kComplete and taking the request: goes on with the bytes that are there.
  State Next();

  State state() const { return state_; }
  /// Head and, once complete, body.
  Request& request() { return request_; }
  const Problem& problem() const { return problem_; }
  /// The client waits for "100 Continue" before it sends the body.
  bool expects_continue() const { return expects_continue_; }
  bool keep_alive() const { return keep_alive_; }
  /// No byte of another request has come in.
  bool empty() const { return input_.empty() && state_ == State::kHead; }
  /// Bytes held.
  std::size_t size_bytes() const { return input_.size() + request_.body.size(); }

 private:
  State Advance();
  State Refuse(int status, std::string_view message);
  bool ParseHead(std::string_view head);
  bool ParseRequestLine(std::string_view line);
  bool ParseHeaderLine(std::string_view line);
  bool DecideBody();
  State AdvanceChunks();
  std::optional<std::string_view> TakeLine();

  const ParseLimits limits_;
  State state_ = State::kHead;
  Problem problem_;
  Request request_;
  std::string input_;
  bool keep_alive_ = true;
  bool expects_continue_ = false;
  bool chunked_ = false;
  bool in_trailer_ = false;
  std::size_t trailer_bytes_ = 0;
  std::uint64_t body_left_ = 0;  // of the whole body, or of the current chunk and its line end
  bool chunk_data_ = false;
};

}  // namespace firn::api
