// SPDX-License-Identifier: Apache-2.0
//
// The Authorization header of a REST catalog.
//
// In: properties token, credential, oauth2-server-uri, scope, audience, resource; or auth.type with auth.basic.* or
//   auth.oauth2.*. Out: header values.
// Guarantees: an OAuth2 token is fetched when first needed, again before it expires, and once more when a server
//   refuses it. Secrets are in no message.
// Threads: any; one thread fetches, the others wait.
// Errors: kInvalidArgument when the credential is refused, kUnavailable when the token server is not reached,
//   kUnsupported for other kinds of authorization.
// Source: Iceberg REST OpenAPI /v1/oauth/tokens; RFC 6749 section 4.4; PyIceberg catalog/rest/auth.py.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "ports/clock.h"
#include "ports/http.h"
#include "ports/properties.h"

namespace firn::ports {

class RestAuthorization {
 public:
  /// `default_server` is used without oauth2-server-uri. `clock` must live longer.
  static Result<std::unique_ptr<RestAuthorization>> Make(const Properties& properties,
                                                         const std::string& default_server, std::shared_ptr<Http> http,
                                                         Clock& clock);

  /// "Bearer ...", "Basic ..." or empty.
  Result<std::string> Header();
  /// Whether a refused header can be replaced by a new one.
  bool can_refresh() const { return !server_.empty(); }
  /// Fetches a new token, unless another thread has done so since `refused` was handed out.
  Status Refresh(const std::string& refused);

 private:
  RestAuthorization(std::shared_ptr<Http> http, Clock& clock) : http_(std::move(http)), clock_(clock) {}
  Status Fetch();

  std::shared_ptr<Http> http_;
  Clock& clock_;
  std::string server_;  // empty: the header never changes
  HttpHeaders form_;
  HttpHeaders headers_;
  std::mutex mutex_;
  std::string header_;
  std::int64_t fetch_at_ns_ = 0;
};

}  // namespace firn::ports
