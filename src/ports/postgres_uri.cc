// SPDX-License-Identifier: Apache-2.0
#include "ports/postgres_uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "ports/http.h"

namespace firn::ports {
namespace {

constexpr std::string_view kJdbc = "jdbc:postgresql:";

std::string Recoded(std::string_view text) { return UrlEncode(UrlDecode(text)); }

/// "//user:password@hosts/db" so that each part is encoded: SQLAlchemy takes passwords with slashes as they are.
std::string EncodedAuthority(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return std::string(text);
  const std::string_view user = text.substr(2, at - 2);
  const std::size_t colon = user.find(':');
  std::string encoded = "//" + Recoded(user.substr(0, colon));
  if (colon != std::string_view::npos) encoded += ":" + Recoded(user.substr(colon + 1));
  return encoded + std::string(text.substr(at));
}

Error Unsupported(std::string_view name) {
  return {Code::kUnsupported, fmt::format("SQL catalog: parameter `{}` of the JDBC connection is not supported", name)};
}

/// Names of pgjdbc in lower case, and of libpq.
constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kSameMeaning = {{
    {"user", "user"},
    {"password", "password"},
    {"sslmode", "sslmode"},
    {"sslcert", "sslcert"},
    {"sslkey", "sslkey"},
    {"sslrootcert", "sslrootcert"},
    {"applicationname", "application_name"},
    {"connecttimeout", "connect_timeout"},
    {"logintimeout", "connect_timeout"},
    {"options", "options"},
    {"gssencmode", "gssencmode"},
    {"channelbinding", "channel_binding"},
}};

/// How Java reads, sends and logs: nothing of it is done here. The last ones are Iceberg's own.
constexpr std::array<std::string_view, 23> kWithoutMeaning = {"sockettimeout",
                                                              "tcpkeepalive",
                                                              "tcpnodelay",
                                                              "loadbalancehosts",
                                                              "hostrecheckseconds",
                                                              "preparethreshold",
                                                              "preparedstatementcachequeries",
                                                              "preparedstatementcachesizemib",
                                                              "defaultrowfetchsize",
                                                              "rewritebatchedinserts",
                                                              "stringtype",
                                                              "loggerlevel",
                                                              "loggerfile",
                                                              "logunclosedconnections",
                                                              "binarytransfer",
                                                              "assumeminserverversion",
                                                              "autosave",
                                                              "cleanupsavepoints",
                                                              "preferquerymode",
                                                              "schema-version",
                                                              "init-catalog-tables",
                                                              "strict-mode",
                                                              "retryable_status_codes"};

/// "&name=value" of libpq for one parameter of pgjdbc, empty if it has none.
Result<std::string> LibpqParameter(std::string_view name, const std::string& value) {
  const std::string lower = AsciiLower(name);
  for (const auto& [java, libpq] : kSameMeaning) {
    if (lower == java) return fmt::format("&{}={}", libpq, UrlEncode(value));
  }
  if (lower == "currentschema") return "&options=" + UrlEncode("-csearch_path=" + value);
  if (lower == "ssl") return value.empty() || AsciiLower(value) == "true" ? "&sslmode=verify-full" : std::string();
  if (lower == "targetservertype") {
    const std::string kind = AsciiLower(value);
    if (kind == "primary" || kind == "master") return std::string("&target_session_attrs=read-write");
    if (kind == "any") return std::string();
    return Unsupported(name);
  }
  if (std::ranges::find(kWithoutMeaning, lower) == kWithoutMeaning.end()) return Unsupported(name);
  return std::string();
}

/// Parameters of a JDBC URL and of the catalog's jdbc.* properties; those of the URL come first.
Result<Properties> JdbcParameters(std::string_view query, const Properties& properties) {
  Properties found;
  while (!query.empty()) {
    std::string pair(NextPart(query, '&'));
    if (pair.empty()) continue;
    std::ranges::replace(pair, '+', ' ');
    const std::size_t equals = pair.find('=');
    const std::string value = equals == std::string::npos ? "" : UrlDecode(std::string_view(pair).substr(equals + 1));
    found.insert_or_assign(AsciiLower(pair.substr(0, equals)), value);
  }
  for (const auto& [key, value] : properties) {
    if (key.starts_with("jdbc.")) found.emplace(AsciiLower(key.substr(5)), value);
  }
  return found;
}

}  // namespace

bool IsPostgresUri(std::string_view uri) {
  const std::string_view scheme = uri.substr(0, uri.find("://"));
  return uri.starts_with(kJdbc) || (scheme.size() < uri.size() && (scheme == "postgresql" || scheme == "postgres" ||
                                                                   scheme.starts_with("postgresql+")));
}

Result<std::string> PostgresUri(const Properties& properties) {
  const std::string uri = PropertyOr(properties, "uri", "");
  if (!IsPostgresUri(uri)) return Error{Code::kInvalidArgument, "SQL catalog: property `uri` is not PostgreSQL's"};
  const std::size_t question = uri.find('?');
  const std::string_view query = question == std::string::npos ? "" : std::string_view(uri).substr(question + 1);
  const bool is_jdbc = uri.starts_with(kJdbc);
  const std::string_view whole = std::string_view(uri).substr(0, question);
  const std::string_view rest = whole.substr(is_jdbc ? kJdbc.size() : whole.find("://") + 1);
  if (!is_jdbc) {
    return "postgresql:" + EncodedAuthority(rest) + (query.empty() ? "" : "?" + std::string(query));
  }
  // "jdbc:postgresql:db" and "jdbc:postgresql:/" are databases of this machine.
  std::string made =
      "postgresql:" + (rest.starts_with("//") ? EncodedAuthority(rest) : "///" + std::string(rest == "/" ? "" : rest));
  FIRN_ASSIGN(const Properties parameters, JdbcParameters(query, properties));
  std::string text;
  for (const auto& [name, value] : parameters) {
    FIRN_ASSIGN(const std::string parameter, LibpqParameter(name, value));
    text += parameter;
  }
  if (!text.empty()) made += "?" + text.substr(1);
  return made;
}

}  // namespace firn::ports
