// SPDX-License-Identifier: Apache-2.0
#include "ports/http.h"

#include <fmt/format.h>

#include "base/ascii.h"
#include "base/byte_text.h"

namespace firn::ports {

const std::string* FindHeader(const HttpResponse& response, std::string_view name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return &value;
  }
  return nullptr;
}

Result<HttpResponse> MemoryHttp::Send(const HttpRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    requests_.push_back(request);
  }
  return handler_(request);
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
