// SPDX-License-Identifier: Apache-2.0
#include "ports/http.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/byte_text.h"
#include "base/text_parts.h"

namespace firn::ports {

const std::string* FindHeader(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool IsReadOnly(const HttpRequest& request) {
  return request.method == "GET" || request.method == "HEAD" || request.is_read_only;
}

Result<HttpResponse> MemoryHttp::Send(const HttpRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  auto response = handler_(request);
  if (!response && response.error().code == Code::kOutcomeUnknown && IsReadOnly(request)) {
    response.error().code = Code::kUnavailable;
  }
  return response;
}

std::vector<HttpRequest> MemoryHttp::requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

std::string UrlEncode(std::string_view text) {
  constexpr std::string_view kPlain = "-._~";
  std::string encoded;
  for (const char c : text) {
    if (IsAsciiAlphanumeric(c) || kPlain.find(c) != std::string_view::npos) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string UrlEncodePath(std::string_view path) {
  std::string encoded;
  for (const std::string_view part : Split(path, '/')) encoded += UrlEncode(part) + '/';
  encoded.pop_back();
  return encoded;
}

std::string UrlDecode(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = LeadingPercentByte(text.substr(i));
    decoded += byte.value_or(text[i]);
    if (byte) i += 2;
  }
  return decoded;
}

std::string FormEncode(const HttpHeaders& fields) {
  std::string text;
  for (const auto& [key, value] : fields) {
    if (!text.empty()) text += '&';
    text += UrlEncode(key) + '=' + UrlEncode(value);
  }
  return text;
}

}  // namespace firn::ports
