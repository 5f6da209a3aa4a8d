// SPDX-License-Identifier: Apache-2.0
#include "ports/azure_blobs.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

#include "base/ascii.h"
#include "base/byte_text.h"
#include "ports/hmac.h"
#include "ports/tries.h"

namespace firn::ports {
namespace {

constexpr std::string_view kServiceVersion = "2021-12-02";

Result<std::string> DateText(TimestampMs now) {
  constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  const std::time_t seconds = now.value / 1000;
  std::tm utc{};
  if (!::gmtime_r(&seconds, &utc)) return Error{Code::kInternal, "the clock shows no date"};
  return fmt::format("{}, {:02} {} {:04} {:02}:{:02}:{:02} GMT", kDays[static_cast<std::size_t>(utc.tm_wday)],
                     utc.tm_mday, kMonths[static_cast<std::size_t>(utc.tm_mon)], utc.tm_year + 1900, utc.tm_hour,
                     utc.tm_min, utc.tm_sec);
}

Result<std::string> Signature(const std::string& key, const std::string& text) {
  std::string raw(key.size(), '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(raw.data());
  const int size =
      EVP_DecodeBlock(bytes, reinterpret_cast<const unsigned char*>(key.data()), static_cast<int>(key.size()));
  if (size <= 0) return Error{Code::kInvalidArgument, "Azure: `adls.account-key` is not Base64"};
  const auto padding = std::ranges::count(key.substr(key.size() - std::min<std::size_t>(2, key.size())), '=');
  raw.resize(static_cast<std::size_t>(size - padding));
  FIRN_ASSIGN(const std::string digest, HmacSha256(raw, text));
  return Base64Text(AsBytes(digest));
}

/// What the signature is of.
std::string TextToSign(const HttpRequest& request, const std::string& account) {
  std::map<std::string, std::string, std::less<>> headers;
  for (const auto& [name, value] : request.headers) headers.insert_or_assign(AsciiLower(name), value);
  std::string text = request.method + "\n";
  for (const std::string_view name :
       {"content-encoding", "content-language", "content-length", "content-md5", "content-type", "date",
        "if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"}) {
    const auto found = headers.find(name);
    if (name == "content-length" && !request.body.empty()) text += std::to_string(request.body.size());
    if (found != headers.end()) text += found->second;
    text += '\n';
  }
  for (const auto& [name, value] : headers) {
    if (name.starts_with("x-ms-")) text += fmt::format("{}:{}\n", name, value);
  }
  const std::string_view after_scheme = std::string_view(request.url).substr(request.url.find("://") + 3);
  return text +
         fmt::format("/{}{}", account, after_scheme.substr(std::min(after_scheme.find('/'), after_scheme.size())));
}

}  // namespace

Status AuthorizeForAzure(HttpRequest& request, const AzureAccount& account, TimestampMs now) {
  FIRN_ASSIGN(const std::string date, DateText(now));
  request.headers.emplace_back("x-ms-date", date);
  request.headers.emplace_back("x-ms-version", kServiceVersion);
  if (!account.sas_token.empty()) {
    request.url += "?" + account.sas_token;
    return Ok();
  }
  if (account.key.empty()) return Ok();
  FIRN_ASSIGN(const std::string signature, Signature(account.key, TextToSign(request, account.name)));
  request.headers.emplace_back("Authorization", fmt::format("SharedKey {}:{}", account.name, signature));
  return Ok();
}

std::string AzureBlobUrl(const AzureAccount& account, const std::string& path) {
  const std::string& authority = account.blob.authority;
  const std::string url = authority.starts_with('.')
                              ? fmt::format("{}://{}{}", account.blob.scheme, account.name, authority)
                              : fmt::format("{}://{}/{}", account.blob.scheme, authority, account.name);
  return url + '/' + UrlEncodePath(path);
}

ConditionalStore AzureObjects(AzureAccount account, std::function<Result<std::string>(const std::string&)> path_of,
                              Clock& clock) {
  ConditionalStore store{
      .server = account.name + account.blob.authority, .condition = "PUT with If-None-Match: *", .request = {}};
  store.request = [account = std::move(account), path_of = std::move(path_of), &clock](
                      const std::string& location, ByteView bytes) -> Result<HttpRequest> {
    FIRN_ASSIGN(const std::string path, path_of(location));
    HttpRequest request{.method = "PUT", .url = AzureBlobUrl(account, path), .body = std::string(AsText(bytes))};
    request.headers = {
        {"Content-Type", "application/octet-stream"}, {"If-None-Match", "*"}, {"x-ms-blob-type", "BlockBlob"}};
    FIRN_TRY(AuthorizeForAzure(request, account, clock.Now()));
    return request;
  };
  return store;
}

Status AzureBlobs::Delete(const std::string& path) {
  Status failure = Ok();
  for (Tries tries(clock_); tries.Next();) {
    HttpRequest request{.method = "DELETE", .url = AzureBlobUrl(account_, path)};
    request.headers.emplace_back("Content-Type", "application/octet-stream");  // signed: not left to the HTTP client
    FIRN_TRY(AuthorizeForAzure(request, account_, clock_.Now()));
    const auto response = http_->Send(request);
    if (!response) {
      failure = Error{Code::kUnavailable, response.error().message};
      continue;
    }
    const int status = response->status;
    const std::string* reason = FindHeader(*response, "x-ms-error-code");
    if (status / 100 == 2) return Ok();
    if (status == 404 && (!reason || *reason == "BlobNotFound")) return Ok();
    const bool may_pass = IsPassingTrouble(status);
    failure = Error{may_pass ? Code::kUnavailable : Code::kInvalidArgument,
                    fmt::format("the store answers {} {} to DELETE", status, reason ? *reason : "")};
    if (!may_pass) break;
  }
  return failure;
}

}  // namespace firn::ports
