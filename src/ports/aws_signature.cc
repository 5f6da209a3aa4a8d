// SPDX-License-Identifier: Apache-2.0
#include "ports/aws_signature.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "base/ascii.h"
#include "base/byte_text.h"
#include "base/text_parts.h"
#include "ports/hmac.h"

namespace firn::ports {
namespace {

Result<std::string> Sha256(std::string_view bytes) {
  std::array<unsigned char, 32> digest;
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    return Error{Code::kInternal, "OpenSSL has no SHA-256"};
  }
  return std::string(reinterpret_cast<const char*>(digest.data()), size);
}

struct UrlParts {
  std::string_view scheme, authority, path, query;
};

UrlParts PartsOf(std::string_view url) {
  UrlParts parts;
  url = url.substr(0, url.find('#'));
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) {
    parts.scheme = url.substr(0, scheme);
    url.remove_prefix(scheme + 3);
  }
  const std::size_t question = url.find('?');
  if (question != std::string_view::npos) parts.query = url.substr(question + 1);
  url = url.substr(0, question);
  const std::size_t slash = std::min(url.find('/'), url.size());
  parts.authority = url.substr(0, slash);
  parts.path = url.substr(slash);
  return parts;
}

/// As HTTP clients send it: without user, and without the port that the scheme implies.
std::string HostOf(const UrlParts& parts) {
  std::string_view host = parts.authority.substr(parts.authority.find('@') + 1);
  const std::string_view port = parts.scheme == "https" ? ":443" : ":80";
  if (host.ends_with(port)) host.remove_suffix(port.size());
  return std::string(host);
}

/// Without ".", ".." and empty components, each component encoded once more.
std::string CanonicalPath(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view part : Split(path, '/')) {
    if (part == ".." && !kept.empty()) kept.pop_back();
    if (!part.empty() && part != "." && part != "..") kept.push_back(part);
  }
  std::string canonical;
  for (const std::string_view part : kept) canonical += "/" + UrlEncode(part);
  if (canonical.empty() || path.ends_with('/')) canonical += "/";
  return canonical;
}

std::string CanonicalQuery(std::string_view query) {
  HttpHeaders fields;
  for (const std::string_view pair : Split(query, '&')) {
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const std::string_view value = equals < pair.size() ? pair.substr(equals + 1) : "";
    fields.emplace_back(UrlEncode(UrlDecode(pair.substr(0, equals))), UrlEncode(UrlDecode(value)));
  }
  std::ranges::sort(fields);
  std::string canonical;
  for (const auto& [key, value] : fields) canonical += (canonical.empty() ? "" : "&") + key + "=" + value;
  return canonical;
}

/// Outer blanks off, inner ones single.
std::string Trimmed(std::string_view value) {
  std::string text;
  for (const char c : value) {
    if (c != ' ' && c != '\t')
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

/// Lines "name:value" in order of names, and the names; values of one name are joined.
std::pair<std::string, std::string> CanonicalHeaders(const HttpHeaders& headers) {
  std::vector<std::pair<std::string, std::string>> sorted;
  for (const auto& [name, value] : headers) sorted.emplace_back(AsciiLower(name), Trimmed(value));
  std::ranges::stable_sort(sorted, {}, &std::pair<std::string, std::string>::first);
  std::string lines, names;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const auto& [name, value] = sorted[i];
    if (i > 0 && sorted[i - 1].first == name) {
      lines.back() = ',';
      lines += value + "\n";
      continue;
    }
    lines += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  return {std::move(lines), std::move(names)};
}

Result<std::string> BodyHash(const HttpRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (AsciiLower(name) == "x-amz-content-sha256") return value;
  }
  FIRN_ASSIGN(const std::string digest, Sha256(request.body));
  return HexText(AsBytes(digest));
}

std::string FirstOf(const Properties& properties, std::initializer_list<std::string> keys) {
  for (const std::string& key : keys) {
    if (const std::string* value = FindFirstProperty(properties, {key})) return *value;
  }
  return "";
}

}  // namespace

Result<std::string> AwsAuthorization(const HttpRequest& request, const AwsSigner& signer, std::string_view date) {
  const UrlParts parts = PartsOf(request.url);
  const auto [lines, names] = CanonicalHeaders(request.headers);
  FIRN_ASSIGN(const std::string body_hash, BodyHash(request));
  const std::string as_it_stands(parts.path.empty() ? "/" : parts.path);
  const std::string path = signer.takes_path_as_it_stands ? as_it_stands : CanonicalPath(parts.path);
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, path, CanonicalQuery(parts.query), lines, names, body_hash);
  FIRN_ASSIGN(const std::string canonical_hash, Sha256(canonical));
  const std::string_view day = date.substr(0, 8);
  const std::string scope = fmt::format("{}/{}/{}/aws4_request", day, signer.region, signer.service);
  const std::string text = fmt::format("AWS4-HMAC-SHA256\n{}\n{}\n{}", date, scope, HexText(AsBytes(canonical_hash)));
  std::string key = "AWS4" + signer.secret_access_key;
  for (const std::string_view part : {day, std::string_view(signer.region), std::string_view(signer.service),
                                      std::string_view("aws4_request"), std::string_view(text)}) {
    FIRN_ASSIGN(key, HmacSha256(key, part));
  }
  return fmt::format("AWS4-HMAC-SHA256 Credential={}/{}, SignedHeaders={}, Signature={}", signer.access_key_id, scope,
                     names, HexText(AsBytes(key)));
}

Status AwsSigner::Sign(HttpRequest& request, TimestampMs now) const {
  const std::time_t seconds = now.value / 1000;
  std::tm utc{};
  if (!::gmtime_r(&seconds, &utc)) return Error{Code::kInternal, "the clock shows no date"};
  const std::string date = fmt::format("{:%Y%m%dT%H%M%SZ}", utc);
  for (auto& [name, value] : request.headers) {
    if (AsciiLower(name) == "authorization") name = "Original-Authorization";
  }
  FIRN_ASSIGN(const std::string body_digest, Sha256(request.body));
  request.headers.emplace_back("Host", HostOf(PartsOf(request.url)));
  request.headers.emplace_back("X-Amz-Date", date);
  request.headers.emplace_back("X-Amz-Content-SHA256", HexText(AsBytes(body_digest)));
  if (!session_token.empty()) request.headers.emplace_back("X-Amz-Security-Token", session_token);
  FIRN_ASSIGN(std::string authorization, AwsAuthorization(request, *this, date));
  request.headers.emplace_back("Authorization", std::move(authorization));
  return Ok();
}

Result<AwsSigner> AwsSignerOf(const Properties& properties, std::string_view prefix, std::string_view region,
                              std::string_view service) {
  AwsSigner signer;
  for (const std::string& level : {std::string(prefix), std::string("client."), std::string("aws.")}) {
    signer.access_key_id = FirstOf(properties, {level + "access-key-id"});
    signer.secret_access_key = FirstOf(properties, {level + "secret-access-key"});
    signer.session_token = FirstOf(properties, {level + "session-token"});
    if (signer.access_key_id.empty() != signer.secret_access_key.empty()) {
      return Error{Code::kInvalidArgument,
                   fmt::format("properties `{0}access-key-id` and `{0}secret-access-key` belong together", level)};
    }
    if (!signer.access_key_id.empty()) break;
  }
  if (signer.access_key_id.empty()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("SigV4: no keys: set `{0}access-key-id` and `{0}secret-access-key`, or AWS_ACCESS_KEY_ID "
                             "and AWS_SECRET_ACCESS_KEY",
                             prefix)};
  }
  signer.region = region.empty() ? FirstOf(properties, {"client.region", "aws.region"}) : std::string(region);
  if (signer.region.empty()) {
    return Error{Code::kInvalidArgument, "SigV4: no region: set `client.region` or AWS_REGION"};
  }
  signer.service = service;
  return signer;
}

Result<std::optional<AwsSigner>> RestSigner(const Properties& properties) {
  FIRN_ASSIGN(const bool is_enabled, BoolProperty(properties, "rest.sigv4-enabled", false));
  if (!is_enabled) return std::optional<AwsSigner>();
  FIRN_ASSIGN(AwsSigner signer, AwsSignerOf(properties, "rest.", PropertyOr(properties, "rest.signing-region", ""),
                                            PropertyOr(properties, "rest.signing-name", "execute-api")));
  return std::optional(std::move(signer));
}

}  // namespace firn::ports
