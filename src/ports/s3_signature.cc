// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_signature.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <map>

namespace firn::ports {
namespace {

std::string Hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

Result<std::string> HexSha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    return Error{Code::kInternal, "OpenSSL has no SHA-256"};
  }
  return Hex({reinterpret_cast<const char*>(digest.data()), size});
}

Result<std::string> Hmac(std::string_view key, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned size = 0;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  if (!HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), data, bytes.size(), digest.data(), &size)) {
    return Error{Code::kInternal, "OpenSSL has no HMAC"};
  }
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

Result<std::string> DateText(TimestampMs now) {
  const std::time_t seconds = now.value / 1000;
  std::tm utc{};
  if (!::gmtime_r(&seconds, &utc)) return Error{Code::kInternal, "the clock shows no date"};
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
                     utc.tm_min, utc.tm_sec);
}

}  // namespace

Status SignForS3(HttpRequest& request, const S3Keys& keys, const std::string& region, TimestampMs now) {
  FIRN_ASSIGN(const std::string date, DateText(now));
  FIRN_ASSIGN(const std::string body_hash, HexSha256(request.body));
  const std::string_view after_scheme = std::string_view(request.url).substr(request.url.find("://") + 3);
  const std::size_t slash = std::min(after_scheme.find('/'), after_scheme.size());
  request.headers.emplace_back("Host", after_scheme.substr(0, slash));
  request.headers.emplace_back("X-Amz-Content-SHA256", body_hash);
  request.headers.emplace_back("X-Amz-Date", date);
  if (!keys.session_token.empty()) request.headers.emplace_back("X-Amz-Security-Token", keys.session_token);

  std::map<std::string, std::string_view> sorted;
  for (const auto& [name, value] : request.headers) {
    std::string lower = name;
    std::ranges::transform(lower, lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
    sorted.emplace(std::move(lower), value);
  }
  std::string lines, names;
  for (const auto& [name, value] : sorted) {
    lines += fmt::format("{}:{}\n", name, value);
    names += (names.empty() ? "" : ";") + name;
  }
  const std::string_view path = slash == after_scheme.size() ? "/" : after_scheme.substr(slash);
  const std::string canonical = fmt::format("{}\n{}\n\n{}\n{}\n{}", request.method, path, lines, names, body_hash);
  FIRN_ASSIGN(const std::string canonical_hash, HexSha256(canonical));
  const std::string day = date.substr(0, 8);
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", day, region);
  std::string key = "AWS4" + keys.secret_access_key;
  for (const std::string& part : {day, region, std::string("s3"), std::string("aws4_request"),
                                  fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope, canonical_hash)}) {
    FIRN_ASSIGN(key, Hmac(key, part));
  }
  request.headers.emplace_back("Authorization",
                               fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}",
                                           keys.access_key_id, scope, names, Hex(key)));
  return Ok();
}

}  // namespace firn::ports
