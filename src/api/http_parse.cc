// SPDX-License-Identifier: Apache-2.0
#include "api/http_parse.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/ascii.h"
#include "base/text_parts.h"

namespace firn::api {
namespace {

constexpr std::size_t kChunkLineMax = 64;
constexpr std::array<std::string_view, 5> kUnique = {"host", "content-length", "transfer-encoding", "authorization",
                                                     "content-type"};

bool IsTokenChar(char c) {
  return IsAsciiAlphanumeric(c) || std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar); }

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

std::optional<std::uint64_t> ParseDigits(std::string_view text, int base) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

RequestParser::State RequestParser::Refuse(int status, std::string_view message) {
  problem_ = {status, message};
  input_.clear();
  return state_ = State::kBroken;
}

RequestParser::State RequestParser::Feed(std::string_view bytes) {
  if (state_ == State::kBroken) return state_;
  input_.append(bytes);
  return Advance();
}

RequestParser::State RequestParser::Next() {
  if (state_ != State::kComplete) return state_;
  request_ = {};
  chunked_ = in_trailer_ = chunk_data_ = expects_continue_ = false;
  keep_alive_ = true;
  body_left_ = trailer_bytes_ = 0;
  state_ = State::kHead;
  return Advance();
}

RequestParser::State RequestParser::Advance() {
  if (state_ == State::kHead) {
    // Empty lines before a request are tolerated.
    while (input_.starts_with("\r\n")) input_.erase(0, 2);
    const auto end = input_.find("\r\n\r\n");
    // Of the end of the head three bytes may be there already.
    const bool is_open = end == std::string::npos;
    const std::size_t head_bytes = is_open ? input_.size() - std::min<std::size_t>(input_.size(), 3) : end;
    if (head_bytes > limits_.head_max_bytes) return Refuse(431, "the head is too large");
    if (is_open) return state_;
    const std::string head = input_.substr(0, end + 2);
    input_.erase(0, end + 4);
    if (!ParseHead(head) || !DecideBody()) return state_ = State::kBroken;
    state_ = State::kBody;
  }
  if (state_ == State::kBody && !chunked_) {
    const std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, input_.size()));
    request_.body.append(input_, 0, take);
    input_.erase(0, take);
    body_left_ -= take;
    if (body_left_ == 0) state_ = State::kComplete;
  } else if (state_ == State::kBody) {
    return AdvanceChunks();
  }
  return state_;
}

bool RequestParser::ParseHead(std::string_view head) {
  std::size_t count = 0;
  bool first = true;
  while (!head.empty()) {
    const auto end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (std::any_of(line.begin(), line.end(), IsControl)) {
      Refuse(400, "a control character in the head");
      return false;
    }
    if (!(first ? ParseRequestLine(line) : ParseHeaderLine(line))) return false;
    first = false;
    if (++count > limits_.headers_max + 1) {
      Refuse(431, "too many headers");
      return false;
    }
  }
  if (FindHeader(request_.headers, "host") == nullptr) {
    Refuse(400, "the host header is missing");
    return false;
  }
  return true;
}

bool RequestParser::ParseRequestLine(std::string_view line) {
  const auto space = line.find(' ');
  const auto last = line.rfind(' ');
  const bool whole = space != std::string_view::npos && last > space;
  const std::string_view target = whole ? line.substr(space + 1, last - space - 1) : "";
  const std::string_view version = whole ? line.substr(last + 1) : "";
  if (!whole || !IsToken(line.substr(0, space)) || !target.starts_with('/') ||
      target.find_first_of(" \t#") != std::string_view::npos) {
    Refuse(400, "the request line is malformed");
    return false;
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") {
    Refuse(505, "only HTTP/1.1 is spoken here");
    return false;
  }
  keep_alive_ = version == "HTTP/1.1";
  request_.method = line.substr(0, space);
  const auto question = target.find('?');
  request_.path = target.substr(0, question);
  if (question != std::string_view::npos) request_.query = target.substr(question + 1);
  return true;
}

bool RequestParser::ParseHeaderLine(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon))) {
    Refuse(400, "a header is malformed");
    return false;
  }
  std::string name = AsciiLower(line.substr(0, colon));
  if (std::find(kUnique.begin(), kUnique.end(), name) != kUnique.end() &&
      FindHeader(request_.headers, name) != nullptr) {
    Refuse(400, "a header that must be unique is there twice");
    return false;
  }
  request_.headers.emplace_back(std::move(name), std::string(Trimmed(line.substr(colon + 1))));
  return true;
}

bool RequestParser::DecideBody() {
  const std::string* length = FindHeader(request_.headers, "content-length");
  const std::string* coding = FindHeader(request_.headers, "transfer-encoding");
  if (const std::string* connection = FindHeader(request_.headers, "connection")) {
    const std::string words = AsciiLower(*connection);
    if (words.find("close") != std::string::npos) keep_alive_ = false;
  }
  if (const std::string* expect = FindHeader(request_.headers, "expect")) {
    expects_continue_ = AsciiLower(*expect) == "100-continue";
  }
  if (length != nullptr && coding != nullptr) {
    Refuse(400, "a length and a transfer coding at once");
    return false;
  }
  if (coding != nullptr) {
    chunked_ = AsciiLower(*coding) == "chunked";
    if (!chunked_) Refuse(501, "only the transfer coding `chunked` is understood");
    return chunked_;
  }
  if (length == nullptr) return true;
  const bool digits = std::all_of(length->begin(), length->end(), IsAsciiDigit);
  const auto value = digits ? ParseDigits(*length, 10) : std::nullopt;
  if (!value) {
    Refuse(400, "the content length is not a number");
    return false;
  }
  if (*value > limits_.body_max_bytes) {
    Refuse(413, "the body is larger than allowed");
    return false;
  }
  body_left_ = *value;
  return true;
}

std::optional<std::string_view> RequestParser::TakeLine() {
  const auto end = input_.find("\r\n");
  if (end == std::string::npos) return std::nullopt;
  return std::string_view(input_).substr(0, end);
}

RequestParser::State RequestParser::AdvanceChunks() {
  while (true) {
    if (chunk_data_) {
      const std::size_t take = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, input_.size()));
      request_.body.append(input_, 0, take);
      input_.erase(0, take);
      body_left_ -= take;
      if (body_left_ > 0 || input_.size() < 2) return state_;
      if (!input_.starts_with("\r\n")) return Refuse(400, "a chunk is longer than it said");
      input_.erase(0, 2);
      chunk_data_ = false;
    }
    const auto line = TakeLine();
    if (!line) {
      const std::size_t line_max = in_trailer_ ? limits_.head_max_bytes : kChunkLineMax;
      return input_.size() > line_max ? Refuse(400, "a chunk's line is too long") : state_;
    }
    const std::size_t line_size = line->size() + 2;
    if (in_trailer_) {
      const bool last = line->empty();
      trailer_bytes_ += line_size;
      if (trailer_bytes_ > limits_.head_max_bytes) return Refuse(431, "the trailers are too large");
      input_.erase(0, line_size);
      if (last) return state_ = State::kComplete;
      continue;
    }
    const auto size = ParseDigits(Trimmed(line->substr(0, line->find(';'))), 16);
    if (!size || line_size > kChunkLineMax) return Refuse(400, "a chunk's size is not a number");
    if (*size > limits_.body_max_bytes - std::min(limits_.body_max_bytes, request_.body.size())) {
      return Refuse(413, "the body is larger than allowed");
    }
    input_.erase(0, line_size);
    in_trailer_ = *size == 0;
    chunk_data_ = !in_trailer_;
    body_left_ = *size;
  }
}

}  // namespace firn::api
