// SPDX-License-Identifier: Apache-2.0
//
// Requests to one REST catalog: address, headers, authorization, and what its answers mean.
//
// In: properties; path below /v1/{prefix}. Out: answers, or errors with the code that the caller acts on.
// Guarantees: a request that was refused with 401 or 419 is sent once more with a new token, nothing else is ever
//   sent twice. With rest.sigv4-enabled every request is signed. Server messages are passed on, secrets are not.
// Threads: any.
// Source: Iceberg REST OpenAPI, /v1/config; Java ErrorHandlers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/json/json.h"
#include "ports/aws_signature.h"
#include "ports/clock.h"
#include "ports/http.h"
#include "ports/properties.h"
#include "ports/rest_authorization.h"

namespace firn::ports {

class RestSession {
 public:
  /// Asks /v1/config. `clock` must live longer.
  static Result<std::unique_ptr<RestSession>> Open(const Properties& properties, std::shared_ptr<Http> http,
                                                   Clock& clock);

  /// Any answer is Ok, whatever its status. `token` replaces the session's authorization if it is not empty.
  Result<HttpResponse> Send(const std::string& method, const std::string& path_and_query, std::string body,
                            HttpHeaders headers = {}, const std::string& token = "");
  /// The same for a request whose URL, time and size are the caller's: other APIs stand beside v1/.
  Result<HttpResponse> SendTo(HttpRequest request, const std::string& token = "");
  /// GET that needs a 200 with a JSON object. Changes nothing, so every failure is clean.
  Result<json::Value> Get(const std::string& path_and_query, const std::string& what);

  /// Address of the server, without a slash at its end.
  std::string uri() const;
  /// Properties after defaults and overrides of the server.
  const Properties& properties() const { return properties_; }
  bool has_idempotency() const { return has_idempotency_; }
  /// Whether the server's list of endpoints has "GET /v1/{prefix}/...". False too if it gives no list.
  bool Lists(std::string_view endpoint) const;
  /// "a%1Fb": the parts encoded, with the server's separator between them.
  std::string NamespacePath(const std::vector<std::string>& name_space) const;
  const std::string& separator() const { return separator_; }

 private:
  RestSession(std::shared_ptr<Http> http, Clock& clock) : http_(std::move(http)), clock_(clock) {}
  Status Configure(const Properties& properties);
  Status Adopt(const json::Value& answer, const Properties& properties);
  Status MakeAuthorization();
  Result<HttpResponse> SendOnce(const HttpRequest& request, const std::string& authorization);

  std::shared_ptr<Http> http_;
  Clock& clock_;
  Properties properties_;
  std::string base_;  // ".../v1/" or ".../v1/prefix/"
  HttpHeaders headers_;
  std::unique_ptr<RestAuthorization> authorization_;
  std::optional<AwsSigner> signer_;
  std::string separator_ = "\x1f";
  bool has_idempotency_ = false;
  std::vector<std::string> endpoints_;
};

/// Error for an answer other than 200. `commit`: statuses that leave open whether it was applied are
/// kOutcomeUnknown; otherwise kUnavailable.
Error RestError(const HttpResponse& response, bool commit);

}  // namespace firn::ports
