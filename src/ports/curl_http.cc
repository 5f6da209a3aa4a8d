// SPDX-License-Identifier: Apache-2.0
#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "ports/http.h"
#include "ports/properties.h"

namespace firn::ports {
namespace {

struct EndHandle {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, EndHandle>;

struct EndList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, EndList>;

/// What the callbacks of one transfer write to.
struct Transfer {
  HttpResponse response;
  std::uint64_t body_max_bytes = 0;
  bool too_large = false;
  const std::atomic<bool>* stop = nullptr;
  std::chrono::milliseconds grace{};
  std::optional<std::chrono::steady_clock::time_point> stop_seen = {};
  bool given_up = false;
};

/// Called about once a second while nothing comes, and more often while something does.
int OnProgress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (!transfer.stop->load()) return 0;
  const auto now = std::chrono::steady_clock::now();
  if (!transfer.stop_seen) transfer.stop_seen = now;
  transfer.given_up = now - *transfer.stop_seen >= transfer.grace;
  return transfer.given_up ? 1 : 0;
}

std::size_t OnBody(char* data, std::size_t, std::size_t count, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  if (count > transfer.body_max_bytes - transfer.response.body.size()) {
    transfer.too_large = true;
    return CURL_WRITEFUNC_ERROR;
  }
  transfer.response.body.append(data, count);
  return count;
}

std::size_t OnHeader(char* data, std::size_t, std::size_t count, void* user) {
  constexpr std::size_t kHeadersMax = 1000;
  auto& headers = static_cast<Transfer*>(user)->response.headers;
  const std::string_view line(data, count);
  // Answers before the last one (100 Continue, redirects) begin with a status line too.
  if (line.starts_with("HTTP/")) headers.clear();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos || headers.size() == kHeadersMax) return count;
  std::string name = AsciiLower(line.substr(0, colon));
  headers.emplace_back(std::move(name), Trimmed(line.substr(colon + 1), " \t\r\n"));
  return count;
}

class CurlHttp final : public Http {
 public:
  explicit CurlHttp(HttpOptions options) : options_(std::move(options)) {}

  Result<HttpResponse> Send(const HttpRequest& request) override {
    Handle handle = TakeHandle();
    if (!handle) return Error{Code::kLimit, "out of memory for an HTTP connection"};
    auto result = Follow(handle.get(), request);
    // Keeps the connection, forgets the options.
    curl_easy_reset(handle.get());
    const std::lock_guard lock(mutex_);
    if (handles_.size() < kHandlesMax) handles_.push_back(std::move(handle));
    return result;
  }

 private:
  static constexpr std::size_t kHandlesMax = 16;

  Handle TakeHandle() {
    const std::lock_guard lock(mutex_);
    if (handles_.empty()) return Handle(curl_easy_init());
    Handle handle = std::move(handles_.back());
    handles_.pop_back();
    return handle;
  }

  /// Redirects of GET and HEAD. libcurl would keep only Authorization and Cookie from another host, and there are
  /// other headers that let somebody in.
  Result<HttpResponse> Follow(CURL* curl, const HttpRequest& request) const {
    constexpr int kRedirectsMax = 5;
    if (request.method != "GET" && request.method != "HEAD") return Perform(curl, request);
    HttpRequest next = request;
    for (int count = 0;; ++count) {
      FIRN_ASSIGN(HttpResponse response, Perform(curl, next));
      char* target = nullptr;
      curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &target);
      if (response.status / 100 != 3 || !target) return response;
      if (count == kRedirectsMax) {
        return Error{Code::kUnavailable, fmt::format("{} {}: more than {} redirects", request.method,
                                                     WithoutQuery(request.url), kRedirectsMax)};
      }
      if (!IsSameServer(next.url, target)) {
        std::erase_if(next.headers, [](const auto& header) { return !IsHarmless(header.first); });
      }
      next.url = target;
      curl_easy_reset(curl);
    }
  }

  static bool IsHarmless(std::string_view header) {
    for (const char* name : {"accept", "content-type"}) {
      if (curl_strequal(std::string(header).c_str(), name)) return true;
    }
    return false;
  }

  /// Scheme, host and port; from http to https of one host is no other server.
  static bool IsSameServer(const std::string& from, const std::string& to) {
    const auto part = [](const std::string& url, CURLUPart what) {
      const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> parsed(curl_url(), &curl_url_cleanup);
      char* text = nullptr;
      if (!parsed || curl_url_set(parsed.get(), CURLUPART_URL, url.c_str(), 0) != CURLUE_OK) return std::string();
      if (curl_url_get(parsed.get(), what, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) return std::string();
      std::string copy(text);
      curl_free(text);
      return copy;
    };
    const std::string host = part(from, CURLUPART_HOST), scheme = part(from, CURLUPART_SCHEME);
    const std::string port = part(from, CURLUPART_PORT);
    if (host.empty() || host != part(to, CURLUPART_HOST)) return false;
    const std::string to_scheme = part(to, CURLUPART_SCHEME), to_port = part(to, CURLUPART_PORT);
    if (scheme == to_scheme && port == to_port) return true;
    return scheme == "http" && port == "80" && to_scheme == "https" && to_port == "443";
  }

  void SetOptions(CURL* curl, const HttpRequest& request) const {
    const bool safe = request.method == "GET" || request.method == "HEAD";
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(curl, CURLOPT_USERAGENT, options_.user_agent.c_str());
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout_ms));
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);  // see Follow
    // libcurl repeats a request by itself, also a POST, when a kept connection turns out to be closed. A fresh
    // connection is the only way to be sure that a commit is sent once.
    curl_easy_setopt(curl, CURLOPT_FRESH_CONNECT, safe || request.is_repeatable ? 0L : 1L);
    if (!options_.ca_bundle_path.empty()) {
      curl_easy_setopt(curl, CURLOPT_CAINFO, options_.ca_bundle_path.c_str());
    }
    if (!options_.client_certificate_path.empty()) {
      curl_easy_setopt(curl, CURLOPT_SSLCERT, options_.client_certificate_path.c_str());
    }
    if (!options_.client_key_path.empty()) {
      curl_easy_setopt(curl, CURLOPT_SSLKEY, options_.client_key_path.c_str());
    }
    if (request.method == "HEAD") {
      curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else if (request.method != "GET") {
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.data());
      curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    }
  }

  Result<HttpResponse> Perform(CURL* curl, const HttpRequest& request) const {
    Transfer transfer;
    transfer.body_max_bytes = request.body_max_bytes;
    SetOptions(curl, request);
    curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);  // keys of objects may hold ".."
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, OnBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, OnHeader);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
    if (options_.stop != nullptr) {
      transfer.stop = options_.stop;
      transfer.grace = std::chrono::milliseconds(IsReadOnly(request) ? kReadGraceMs : kChangeGraceMs);
      curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
      curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, OnProgress);
      curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
    }
    char reason[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);

    // Waiting for "100 Continue" delays large commits by a second.
    List headers(curl_slist_append(nullptr, "Expect:"));
    for (const auto& [name, value] : request.headers) {
      const std::string line = value.empty() ? name + ";" : name + ": " + value;
      if (line.find_first_of("\r\n") != std::string::npos) {
        return Error{Code::kInvalidArgument, fmt::format("header `{}` contains a line break", name)};
      }
      curl_slist* longer = curl_slist_append(headers.get(), line.c_str());
      if (!longer) return Error{Code::kLimit, "out of memory for HTTP headers"};
      (void)headers.release();
      headers.reset(longer);
    }
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());

    const CURLcode code = curl_easy_perform(curl);
    long status = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    transfer.response.status = static_cast<int>(status);
    if (code == CURLE_OK) return std::move(transfer.response);
    const char* text = transfer.given_up ? "given up, as the program ends"
                       : reason[0] != 0  ? reason
                                         : curl_easy_strerror(code);
    return Explain(curl, code, transfer.too_large, request, text);
  }

  static Error Explain(CURL* curl, CURLcode code, bool too_large, const HttpRequest& request, const char* reason) {
    const std::string what = fmt::format("{} {}", request.method, WithoutQuery(request.url));
    if (too_large) {
      return {Code::kLimit, fmt::format("{}: the answer has more than {} bytes", what, request.body_max_bytes)};
    }
    // Bytes of requests on the wire, TLS handshakes not counted. They alone decide: also a wrong protocol can be
    // found out in the answer.
    long sent_bytes = 0;
    curl_easy_getinfo(curl, CURLINFO_REQUEST_SIZE, &sent_bytes);
    if (sent_bytes == 0) {
      const bool wrong = code == CURLE_URL_MALFORMAT || code == CURLE_UNSUPPORTED_PROTOCOL;
      return {wrong ? Code::kInvalidArgument : Code::kUnavailable, fmt::format("{}: not sent: {}", what, reason)};
    }
    return {IsReadOnly(request) ? Code::kUnavailable : Code::kOutcomeUnknown,
            fmt::format("{}: sent, but no answer: {}", what, reason)};
  }

  /// URLs in messages: without user, password and query.
  static std::string WithoutQuery(const std::string& url) {
    return WithoutCredentials(std::string_view(url).substr(0, url.find('?')));
  }

  HttpOptions options_;
  std::mutex mutex_;
  std::vector<Handle> handles_;
};

}  // namespace

Result<std::shared_ptr<Http>> MakeCurlHttp(HttpOptions options) {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) return Error{Code::kInternal, "libcurl does not start"};
  return std::shared_ptr<Http>(std::make_shared<CurlHttp>(std::move(options)));
}

}  // namespace firn::ports
