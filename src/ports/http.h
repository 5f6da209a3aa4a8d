// SPDX-License-Identifier: Apache-2.0
//
// One HTTP request, one answer.
//
// In: method, URL, headers, body. Out: status, headers, body.
// Guarantees: a request is sent at most once, unless it is GET or HEAD or is_repeatable, which go on kept connections
//   and once more where such a connection turned out to be closed;
//   redirects are followed for GET and HEAD only, and to another server without the headers that let somebody in.
//   Failures tell whether the request can have reached the server.
//   When the program ends, a server that does not answer holds it up for kReadGraceMs or kChangeGraceMs, and a second.
// Cost: a new connection a request, but for those requests.
// Threads: any.
// Errors: kUnavailable: it was not sent, or it only reads (IsReadOnly) and there is no (whole) answer. kOutcomeUnknown:
//   it may have been received and done, there is no (whole) answer.
//   kLimit: the answer is larger than allowed; the request was received. kInvalidArgument: the URL.
//   A status such as 500 is an answer, not an error.
// Source: RFC 9110 (which requests may be sent twice).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace firn::ports {

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "GET";
  std::string url = {};
  HttpHeaders headers = {};
  std::string body = {};
  std::int64_t timeout_ms = 60'000;
  std::uint64_t body_max_bytes = std::uint64_t{1} << 30;
  /// As GET and HEAD are.
  bool is_read_only = false;
  /// Done twice it is as if done once.
  bool is_repeatable = false;
};

struct HttpResponse {
  int status = 0;
  HttpHeaders headers;  // names in lower case
  std::string body;
};

/// Whether it changes nothing, so that it does not matter whether it was received.
bool IsReadOnly(const HttpRequest& request);

/// Value of the first header of that name (lower case); null if there is none.
const std::string* FindHeader(const HttpResponse& response, std::string_view name);

class Http {
 public:
  virtual ~Http() = default;
  virtual Result<HttpResponse> Send(const HttpRequest& request) = 0;
};

/// So long requests that only read go on when the program ends, and those that may change something: their outcome
/// is worth waiting for.
inline constexpr std::int64_t kReadGraceMs = 700;
inline constexpr std::int64_t kChangeGraceMs = 20'000;

struct HttpOptions {
  std::string user_agent = "firn";
  std::int64_t connect_timeout_ms = 10'000;
  std::string ca_bundle_path;           // empty: the system's
  std::string client_certificate_path;  // mutual TLS
  std::string client_key_path;
  const std::atomic<bool>* stop = nullptr;  // true: the program ends; borrowed, may be null
};

/// Real connections, through libcurl. Proxies of the environment (https_proxy, no_proxy) are used.
Result<std::shared_ptr<Http>> MakeCurlHttp(HttpOptions options);

/// The twin: a function answers, and requests are kept for looking at.
class MemoryHttp final : public Http {
 public:
  using Handler = std::function<Result<HttpResponse>(const HttpRequest&)>;
  explicit MemoryHttp(Handler handler) : handler_(std::move(handler)) {}
  Result<HttpResponse> Send(const HttpRequest& request) override;
  std::vector<HttpRequest> requests() const;

 private:
  Handler handler_;
  mutable std::mutex mutex_;
  std::vector<HttpRequest> requests_;
};

/// Every byte but letters, digits and "-._~" as %XX.
std::string UrlEncode(std::string_view text);
/// Each part between slashes encoded.
std::string UrlEncodePath(std::string_view path);
/// %XX as bytes; what is no such code stays.
std::string UrlDecode(std::string_view text);
/// "a=1&b=2", encoded: for queries and forms.
std::string FormEncode(const HttpHeaders& fields);

}  // namespace firn::ports
