// SPDX-License-Identifier: Apache-2.0
#include "ports/rest_authorization.h"

#include <fmt/format.h>

#include <limits>

#include "base/byte_text.h"
#include "format/json/json.h"

namespace firn::ports {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// A token is replaced this long before its end, or after half of a short life.
constexpr std::int64_t kMarginSeconds = 60;

Error TokenError(const HttpResponse& response) {
  std::string reason;
  if (const auto body = json::Parse(response.body)) {
    for (const std::string_view member : {"error", "error_description"}) {
      const json::Value* value = body->Find(member);
      if (value && value->AsString()) reason += fmt::format(": {}", *value->AsString());
    }
  }
  const bool refused = response.status >= 400 && response.status < 500 && response.status != 429;
  return {refused ? Code::kInvalidArgument : Code::kUnavailable,
          fmt::format("OAuth2 token server answers {}{}", response.status, reason)};
}

Result<std::string> Required(const Properties& properties, std::string_view key) {
  const std::string* value = FindFirstProperty(properties, {key});
  if (!value) return Error{Code::kInvalidArgument, fmt::format("property `{}` is missing", key)};
  return *value;
}

}  // namespace

Result<std::unique_ptr<RestAuthorization>> RestAuthorization::Make(const Properties& properties,
                                                                   const std::string& default_server,
                                                                   std::shared_ptr<Http> http, Clock& clock) {
  std::unique_ptr<RestAuthorization> made(new RestAuthorization(std::move(http), clock));
  const std::string type = PropertyOr(properties, "auth.type", "");
  made->fetch_at_ns_ = kNever;
  if (type == "noop") return made;
  if (type == "basic") {
    FIRN_ASSIGN(const std::string user, Required(properties, "auth.basic.username"));
    FIRN_ASSIGN(const std::string password, Required(properties, "auth.basic.password"));
    made->header_ = "Basic " + Base64Text(AsBytes(user + ":" + password));
    return made;
  }
  if (type == "oauth2") {
    FIRN_ASSIGN(const std::string client, Required(properties, "auth.oauth2.client_id"));
    FIRN_ASSIGN(const std::string secret, Required(properties, "auth.oauth2.client_secret"));
    FIRN_ASSIGN(made->server_, Required(properties, "auth.oauth2.token_url"));
    made->form_ = {{"grant_type", "client_credentials"}};
    const std::string scope = PropertyOr(properties, "auth.oauth2.scope", "");
    if (!scope.empty()) made->form_.emplace_back("scope", scope);
    made->headers_.emplace_back("Authorization", "Basic " + Base64Text(AsBytes(client + ":" + secret)));
    made->fetch_at_ns_ = 0;
    return made;
  }
  if (!type.empty()) {
    return Error{Code::kUnsupported,
                 fmt::format("property `auth.type` is `{}`: only noop, basic and oauth2 are supported", type)};
  }
  if (const std::string* credential = FindFirstProperty(properties, {"credential"})) {
    const std::string* server = FindFirstProperty(properties, {"oauth2-server-uri"});
    made->server_ = server ? *server : default_server;
    made->form_ = {{"grant_type", "client_credentials"}};
    const std::size_t colon = credential->find(':');
    if (colon != std::string::npos) made->form_.emplace_back("client_id", credential->substr(0, colon));
    made->form_.emplace_back("client_secret", colon == std::string::npos ? *credential : credential->substr(colon + 1));
    const std::string* scope = FindFirstProperty(properties, {"scope"});
    made->form_.emplace_back("scope", scope ? *scope : "catalog");
    for (const std::string_view key : {"audience", "resource"}) {
      if (const std::string* value = FindFirstProperty(properties, {key})) made->form_.emplace_back(key, *value);
    }
    made->fetch_at_ns_ = 0;
    return made;
  }
  if (const std::string* token = FindFirstProperty(properties, {"token"})) made->header_ = "Bearer " + *token;
  return made;
}

Result<std::string> RestAuthorization::Header() {
  const std::lock_guard lock(mutex_);
  if (fetch_at_ns_ != kNever && (header_.empty() || clock_.MonotonicNs() >= fetch_at_ns_)) FIRN_TRY(Fetch());
  return header_;
}

Status RestAuthorization::Refresh(const std::string& refused) {
  const std::lock_guard lock(mutex_);
  if (!can_refresh() || header_ != refused) return Ok();
  return Fetch();
}

Status RestAuthorization::Fetch() {
  HttpRequest request{.method = "POST", .url = server_, .headers = headers_, .body = FormEncode(form_)};
  request.headers.emplace_back("Content-Type", "application/x-www-form-urlencoded");
  request.headers.emplace_back("Accept", "application/json");
  request.body_max_bytes = 1 << 20;
  request.is_read_only = true;
  auto response = http_->Send(request);
  if (!response) return std::move(response.error()).In("OAuth2 token");
  if (response->status != 200) return TokenError(*response);
  const auto body = json::Parse(response->body);
  const json::Value* token = body ? body->Find("access_token") : nullptr;
  if (!token || !token->AsString() || token->AsString()->empty()) {
    return Error{Code::kUnavailable, "OAuth2 token server: the answer has no `access_token`"};
  }
  header_ = "Bearer " + *token->AsString();
  const json::Value* life = body->Find("expires_in");
  const std::int64_t seconds = life ? life->AsInt64().value_or(0) : 0;
  constexpr std::int64_t kSecondsMax = 10LL * 365 * 24 * 3600;
  if (seconds <= 0 || seconds > kSecondsMax) {
    fetch_at_ns_ = kNever - 1;
  } else {
    const std::int64_t use_seconds = std::max(seconds - kMarginSeconds, seconds / 2);
    fetch_at_ns_ = clock_.MonotonicNs() + use_seconds * 1'000'000'000;
  }
  return Ok();
}

}  // namespace firn::ports
