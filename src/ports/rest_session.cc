// SPDX-License-Identifier: Apache-2.0
#include "ports/rest_session.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "ports/location.h"

namespace firn::ports {
namespace {

Properties StringMembers(const json::Value* object) {
  Properties properties;
  if (!object) return properties;
  for (const auto& [key, value] : object->members()) {
    if (value.AsString()) properties.insert_or_assign(key, *value.AsString());
  }
  return properties;
}

/// "CommitFailedException: text" of the error body, or the start of whatever the body is.
std::string Reason(const HttpResponse& response) {
  constexpr std::size_t kReasonBytesMax = 500;
  std::string reason;
  const auto body = json::Parse(response.body);
  const json::Value* error = body ? body->Find("error") : nullptr;
  if (error && error->is_object()) {
    const json::Value* type = error->Find("type");
    const json::Value* message = error->Find("message");
    if (type && type->AsString()) reason = *type->AsString();
    if (message && message->AsString()) reason += (reason.empty() ? "" : ": ") + *message->AsString();
  } else {
    reason = response.body;
  }
  reason = OneLine(reason, kReasonBytesMax);
  if (const std::string* wait = FindHeader(response, "retry-after")) reason += " (Retry-After: " + *wait + ")";
  return reason;
}

Code CodeOfStatus(int status, bool commit) {
  switch (status) {
    case 301:
    case 307:
    case 308:
    case 400:
    case 401:
    case 403:
    case 419:
    case 422: return Code::kInvalidArgument;
    case 404: return Code::kNotFound;
    case 405:
    case 406:
    case 501: return Code::kUnsupported;
    case 409: return Code::kConflict;
    case 425:
    case 429: return Code::kUnavailable;
    case 408: break;
    default:
      if (status >= 400 && status < 500) return Code::kInvalidArgument;
  }
  return commit ? Code::kOutcomeUnknown : Code::kUnavailable;
}

}  // namespace

Error RestError(const HttpResponse& response, bool commit) {
  return {CodeOfStatus(response.status, commit),
          fmt::format("catalog answers {}: {}", response.status, Reason(response))};
}

Result<std::unique_ptr<RestSession>> RestSession::Open(const Properties& properties, std::shared_ptr<Http> http,
                                                       Clock& clock) {
  const std::string uri = PropertyOr(properties, "uri", "");
  if (!uri.starts_with("http://") && !uri.starts_with("https://")) {
    return Error{Code::kInvalidArgument,
                 fmt::format("REST catalog: property `uri` must begin with http:// or https://, not `{}`",
                             WithoutCredentials(uri.substr(0, uri.find('?'))))};
  }
  std::unique_ptr<RestSession> session(new RestSession(std::move(http), clock));
  if (Status configured = session->Configure(properties); !configured) {
    return std::move(configured.error()).In("REST catalog " + WithoutCredentials(uri.substr(0, uri.find('?'))));
  }
  return session;
}

Status RestSession::MakeAuthorization() {
  const std::string server = Join(uri(), "v1/oauth/tokens");
  FIRN_ASSIGN(authorization_, RestAuthorization::Make(properties_, server, http_, clock_));
  FIRN_ASSIGN(signer_, RestSigner(properties_));
  headers_ = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  bool delegation = false;
  for (const auto& [key, value] : properties_) {
    constexpr std::string_view kPrefix = "header.";
    if (!key.starts_with(kPrefix)) continue;
    std::string name = key.substr(kPrefix.size());
    delegation = delegation || AsciiLower(name) == "x-iceberg-access-delegation";
    headers_.emplace_back(std::move(name), value);
  }
  if (!delegation) headers_.emplace_back("X-Iceberg-Access-Delegation", "vended-credentials");
  return Ok();
}

Status RestSession::Configure(const Properties& properties) {
  properties_ = properties;
  base_ = Join(WithoutSlash(PropertyOr(properties, "uri", "")), "v1/");
  FIRN_TRY(MakeAuthorization());
  const std::string* warehouse = FindFirstProperty(properties, {"warehouse"});
  FIRN_ASSIGN(const json::Value answer,
              Get(warehouse ? "config?" + FormEncode({{"warehouse", *warehouse}}) : "config", "config"));
  return Adopt(answer, properties);
}

Status RestSession::Adopt(const json::Value& answer, const Properties& properties) {
  properties_ =
      Merged(Merged(StringMembers(answer.Find("defaults")), properties), StringMembers(answer.Find("overrides")));
  // The server may have moved the catalog, or named another place for tokens.
  if (properties_ != properties) FIRN_TRY(MakeAuthorization());
  const std::string prefix = PropertyOr(properties_, "prefix", "");
  base_ = Join(uri(), "v1/");
  if (!prefix.empty()) base_ += AsPrefix(prefix);
  if (const std::string* separator = FindProperty(properties_, "namespace-separator")) {
    separator_ = UrlDecode(*separator);
    if (separator_.empty()) {
      return Error{Code::kInvalidArgument, "property `namespace-separator` must not be empty"};
    }
  }
  const json::Value* lifetime = answer.Find("idempotency-key-lifetime");
  has_idempotency_ = lifetime && lifetime->AsString() && !lifetime->AsString()->empty();
  if (const json::Value* endpoints = answer.Find("endpoints")) {
    for (const json::Value& endpoint : endpoints->elements()) {
      if (endpoint.AsString()) endpoints_.push_back(*endpoint.AsString());
    }
  }
  return Ok();
}

std::string RestSession::uri() const { return std::string(WithoutSlash(PropertyOr(properties_, "uri", ""))); }

bool RestSession::Lists(std::string_view endpoint) const {
  return std::ranges::find(endpoints_, endpoint) != endpoints_.end();
}

Result<HttpResponse> RestSession::Send(const std::string& method, const std::string& path_and_query, std::string body,
                                       HttpHeaders headers, const std::string& token) {
  HttpRequest request{
      .method = method, .url = base_ + path_and_query, .headers = std::move(headers), .body = std::move(body)};
  FIRN_ASSIGN(const std::int64_t timeout_ms,
              IntProperty(properties_, "rest.client.socket-timeout-ms", 120'000, 1, 3'600'000));
  request.timeout_ms = timeout_ms;
  return SendTo(std::move(request), token);
}

Result<HttpResponse> RestSession::SendTo(HttpRequest request, const std::string& token) {
  request.headers.insert(request.headers.begin(), headers_.begin(), headers_.end());
  if (!token.empty()) {
    FIRN_ASSIGN(HttpResponse response, SendOnce(request, "Bearer " + token));
    // A table's own token ends before the session's: then the session may still do it.
    if (response.status != 401 && response.status != 419) return response;
  }
  FIRN_ASSIGN(const std::string authorization, authorization_->Header());
  FIRN_ASSIGN(HttpResponse response, SendOnce(request, authorization));
  const bool refused = response.status == 401 || response.status == 419;
  if (!refused || !authorization_->can_refresh()) return response;
  FIRN_TRY(authorization_->Refresh(authorization));
  FIRN_ASSIGN(const std::string renewed, authorization_->Header());
  return SendOnce(request, renewed);
}

Result<HttpResponse> RestSession::SendOnce(const HttpRequest& request, const std::string& authorization) {
  if (authorization.empty() && !signer_) return http_->Send(request);
  HttpRequest authorized = request;
  if (!authorization.empty()) authorized.headers.emplace_back("Authorization", authorization);
  if (signer_) FIRN_TRY(signer_->Sign(authorized, clock_.Now()));
  return http_->Send(authorized);
}

Result<json::Value> RestSession::Get(const std::string& path_and_query, const std::string& what) {
  auto response = Send("GET", path_and_query, "");
  if (!response) return std::move(response.error()).In(what);
  if (response->status != 200) return RestError(*response, /*commit=*/false).In(what);
  auto body = json::Parse(response->body);
  if (!body) return std::move(body.error()).In(what + ": answer of the catalog");
  if (!body->is_object()) {
    return Error{Code::kCorrupt, what + ": answer of the catalog: a JSON object is expected"};
  }
  return std::move(*body);
}

std::string RestSession::NamespacePath(const std::vector<std::string>& name_space) const {
  std::string path;
  for (const std::string& part : name_space) {
    if (!path.empty()) path += UrlEncode(separator_);
    path += UrlEncode(part);
  }
  return path;
}

}  // namespace firn::ports
