// SPDX-License-Identifier: Apache-2.0
#include "api/authorize.h"

#include <algorithm>
#include <array>

#include "api/answer.h"
#include "api/http_server.h"
#include "base/ascii.h"

namespace firn::api {
namespace {

constexpr std::array<std::string_view, 3> kBodyTypes = {"application/json", "application/cloudevents+json",
                                                        "application/cloudevents-batch+json"};

/// "h" of "h:80" and "[::1]" of "[::1]:80", without brackets.
std::string_view HostName(std::string_view host) {
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    return end == std::string_view::npos ? "" : host.substr(1, end - 1);
  }
  return host.substr(0, host.find(':'));
}

bool HostIsOurs(std::string_view host, const Access& access) {
  const std::string name = AsciiLower(HostName(host));
  if (name == "localhost" || IsAddress(name)) return true;
  return std::find(access.hosts.begin(), access.hosts.end(), name) != access.hosts.end();
}

/// A browser says where the page came from; other programs say nothing.
bool SameOrigin(const Request& head) {
  if (const std::string* site = FindHeader(head.headers, "sec-fetch-site")) {
    if (*site != "same-origin" && *site != "none") return false;
  }
  const std::string* origin = FindHeader(head.headers, "origin");
  if (origin == nullptr) return true;
  const std::string* host = FindHeader(head.headers, "host");
  return host != nullptr && (*origin == "http://" + *host || *origin == "https://" + *host);
}

bool HasToken(const Request& head, const std::string& token) {
  const std::string* authorization = FindHeader(head.headers, "authorization");
  if (authorization == nullptr || authorization->size() < 7) return false;
  if (AsciiLower(authorization->substr(0, 7)) != "bearer ") return false;
  return EqualInConstantTime(std::string_view(*authorization).substr(7), token);
}

}  // namespace

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  std::size_t different = a.size() ^ b.size();
  for (std::size_t i = 0; i < a.size(); ++i) {
    const char other = b.empty() ? '\0' : b[i % b.size()];
    different |= static_cast<std::size_t>(static_cast<unsigned char>(a[i] ^ other));
  }
  return different == 0;
}

std::optional<Response> Refuse(const Request& head, Need need, const Access& access) {
  const std::string* host = FindHeader(head.headers, "host");
  if (host == nullptr || !HostIsOurs(*host, access)) {
    return ErrorAnswer(421, "forbidden", "the Host header is not a name of this service; start it with --host");
  }
  if (need == Need::kNothing) return std::nullopt;
  if (!access.token.empty() && !HasToken(head, access.token)) {
    Response response = ErrorAnswer(401, "unauthorized", "a bearer token is needed");
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"firn\"");
    return response;
  }
  if (need == Need::kRead) return std::nullopt;
  if (access.token.empty() && !access.loopback) {
    return ErrorAnswer(403, "forbidden", "only reading is allowed here: start it with --token-file to allow more");
  }
  if (!SameOrigin(head)) return ErrorAnswer(403, "forbidden", "a page of another site may not do this");
  return std::nullopt;
}

std::optional<Response> RefuseType(const Request& head, Need need) {
  if (need != Need::kWrite) return std::nullopt;
  const std::string* type = FindHeader(head.headers, "content-type");
  if (type == nullptr || std::find(kBodyTypes.begin(), kBodyTypes.end(), MediaType(*type)) == kBodyTypes.end()) {
    return ErrorAnswer(415, "unsupported", "the content type must be application/json");
  }
  return std::nullopt;
}

}  // namespace firn::api
