// SPDX-License-Identifier: Apache-2.0
#include "ports/azure_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/text_parts.h"
#include "ports/azure_file_io.h"
#include "ports/location.h"

namespace firn::ports {
namespace {

constexpr std::array<std::string_view, 2> kServices = {".blob.", ".dfs."};
// Microsoft's own: nobody else answers there.
constexpr std::array<std::string_view, 4> kSuffixes = {"core.windows.net", "core.chinacloudapi.cn",
                                                       "core.usgovcloudapi.net", "fabric.microsoft.com"};

/// "core.windows.net", or what another cloud has in its place.
void SetSuffix(AzureAccount& account, std::string_view suffix) {
  account.blob.authority = fmt::format(".blob.{}", suffix);
  account.dfs.authority = fmt::format(".dfs.{}", suffix);
}

/// Both services of "account.blob.SUFFIX" or "account.dfs.SUFFIX"; false for other hosts.
bool SetHost(AzureAccount& account, std::string_view host) {
  const std::string_view behind_name = host.substr(std::min(host.find('.'), host.size()));
  for (const std::string_view service : kServices) {
    if (!behind_name.starts_with(service)) continue;
    SetSuffix(account, behind_name.substr(service.size()));
    return true;
  }
  return false;
}

std::string_view FirstLabel(std::string_view host) { return host.substr(0, host.find('.')); }

/// Other characters would end the host of a URL before the part that was looked at.
bool IsName(std::string_view name) {
  return std::ranges::all_of(name, [](char c) { return IsAsciiAlphanumeric(c) || c == '-' || c == '_'; });
}

/// Whether `host` is "account.blob.SUFFIX" or "account.dfs.SUFFIX" in a cloud of Azure.
bool IsOfAzure(std::string_view host) {
  const std::string_view behind_name = host.substr(FirstLabel(host).size());
  return std::ranges::any_of(kServices, [&](std::string_view service) {
    return behind_name.starts_with(service) &&
           std::ranges::find(kSuffixes, behind_name.substr(service.size())) != kSuffixes.end();
  });
}

/// "http://127.0.0.1:10000/account" or "https://account.blob.core.windows.net".
Result<AzureService> EndpointOf(const std::string& name, std::string_view url) {
  const Error unreadable{Code::kInvalidArgument,
                         "property `adls.connection-string`: an endpoint must be https://ACCOUNT.HOST or "
                         "http://HOST:PORT/ACCOUNT"};
  const std::string_view scheme = SchemeOf(url);
  if (scheme != "http" && scheme != "https") return unreadable;
  std::string_view rest = url.substr(scheme.size() + 3);
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const std::string_view host = rest.substr(0, rest.find('/'));
  AzureService service{.scheme = std::string(scheme), .authority = std::string(host)};
  if (host.size() < rest.size()) {
    if (rest.substr(host.size() + 1) != name) return unreadable;
    return service;
  }
  if (!host.starts_with(name + ".")) return unreadable;
  service.authority.erase(0, name.size());
  return service;
}

/// "AccountName=a;AccountKey=k;EndpointSuffix=core.windows.net", names in any case.
Properties PartsOf(std::string_view text) {
  Properties parts;
  while (!text.empty()) {
    const std::string_view part = NextPart(text, ';');
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    parts.insert_or_assign(AsciiLower(part.substr(0, equals)), std::string(part.substr(equals + 1)));
  }
  return parts;
}

Status SetServices(AzureAccount& account, const Properties& parts) {
  if (const std::string* suffix = FindFirstProperty(parts, {"endpointsuffix"})) SetSuffix(account, *suffix);
  if (const std::string* scheme = FindFirstProperty(parts, {"defaultendpointsprotocol"})) {
    account.blob.scheme = account.dfs.scheme = *scheme;
  }
  const std::string* blob = FindFirstProperty(parts, {"blobendpoint"});
  const std::string* dfs = FindFirstProperty(parts, {"dfsendpoint"});
  if (blob) {
    FIRN_ASSIGN(account.blob, EndpointOf(account.name, *blob));
  }
  if (dfs) {
    FIRN_ASSIGN(account.dfs, EndpointOf(account.name, *dfs));
  } else if (blob && !account.blob.authority.starts_with('.')) {
    account.dfs = account.blob;  // an emulator
  } else if (blob) {
    SetHost(account, account.name + account.blob.authority);
    account.dfs.scheme = account.blob.scheme;
  }
  return Ok();
}

void SetServiceProperties(AzureAccount& account, const Properties& properties) {
  const auto set = [&](std::string& option, std::string_view key) {
    if (const std::string* value = FindFirstProperty(properties, {key})) option = *value;
  };
  set(account.blob.authority, "adls.blob-storage-authority");
  set(account.dfs.authority, "adls.dfs-storage-authority");
  set(account.blob.scheme, "adls.blob-storage-scheme");
  set(account.dfs.scheme, "adls.dfs-storage-scheme");
}

std::string WithoutQuestionMark(const std::string& token) { return token.starts_with('?') ? token.substr(1) : token; }

/// "account" of "http://127.0.0.1:10000/account" or "https://account.blob.core.windows.net".
std::string AccountOfEndpoint(std::string_view url) {
  std::string_view rest = WithoutSlash(url);
  if (const std::string_view scheme = SchemeOf(rest); !scheme.empty()) rest.remove_prefix(scheme.size() + 3);
  const std::size_t slash = rest.find('/');
  return std::string(slash == std::string_view::npos ? FirstLabel(rest) : rest.substr(slash + 1));
}

/// Whose the credentials are that do not say so, and the servers; empty: that is not known.
std::string OwnerOf(const Properties& properties) {
  const std::string name = AzureAccountNameOf(properties);
  return name.empty() ? AzureAccountIn(PropertyOr(properties, "warehouse", "")) : name;
}

/// Servers as the location's host says, and over it as the configuration does. Whoever writes a location must not
/// choose the server that gets the credentials.
Status SetServers(AzureAccount& account, const Properties& properties, const Properties& parts,
                  const std::string& owner, const std::string& host) {
  const bool is_named = FindFirstProperty(properties, {"adls.sas-token." + host}) != nullptr;
  bool is_known = host == account.name || host.empty() || IsOfAzure(host);
  if (is_known || is_named) is_known |= SetHost(account, host);
  if (owner.empty() || owner == account.name) {
    FIRN_TRY(SetServices(account, parts));
    SetHost(account, PropertyOr(properties, "adls.account-host", ""));
    SetServiceProperties(account, properties);
    is_known |= host == account.name + account.blob.authority || host == account.name + account.dfs.authority;
  }
  if (is_known) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("Azure: `{}` is neither ACCOUNT.dfs.core.windows.net, that of another cloud of Azure, nor "
                           "named by `adls.account-host`",
                           host)};
}

/// Credentials that do not say whose they are go to their owner alone.
Status SetCredentials(AzureAccount& account, const Properties& properties, const Properties& parts,
                      const std::string& owner) {
  const auto value = [&](std::initializer_list<std::string_view> keys) {
    const std::string* found = FindFirstProperty(properties, keys);
    return found ? *found : std::string();
  };
  account.sas_token = WithoutQuestionMark(value({"adls.sas-token"}));
  account.key = value({"adls.account-key", "adls.auth.shared-key.account.key"});
  if (account.sas_token.empty() && account.key.empty()) {
    account.sas_token = WithoutQuestionMark(PropertyOr(parts, "sharedaccesssignature", ""));
    account.key = PropertyOr(parts, "accountkey", "");
  }
  const bool has_keys = !account.sas_token.empty() || !account.key.empty();
  if (has_keys && owner.empty()) {
    return Error{Code::kInvalidArgument, "Azure: set `adls.account-name`: the keys do not say which account they open"};
  }
  if (has_keys && owner != account.name) {
    return Error{Code::kInvalidArgument,
                 fmt::format("Azure: the location is of account `{}`, the keys are of `{}`", account.name, owner)};
  }
  account.tenant_id = value({"adls.tenant-id"});
  account.client_id = value({"adls.client-id"});
  account.client_secret = value({"adls.client-secret"});
  if (account.tenant_id.empty() != account.client_secret.empty() ||
      (!account.client_secret.empty() && account.client_id.empty())) {
    return Error{Code::kInvalidArgument, "adls.tenant-id, adls.client-id and adls.client-secret belong together"};
  }
  FIRN_ASSIGN(account.anonymous, BoolProperty(properties, "adls.anon", false));
  return Ok();
}

}  // namespace

std::string AzureAccountIn(const std::string& location) {
  return IsAzureScheme(SchemeOf(location)) ? std::string(FirstLabel(AzureHostOf(location))) : std::string();
}

std::string AzureAccountNameOf(const Properties& properties) {
  if (const std::string* name =
          FindFirstProperty(properties, {"adls.account-name", "adls.auth.shared-key.account.name"})) {
    return *name;
  }
  const Properties parts = PartsOf(PropertyOr(properties, "adls.connection-string", ""));
  if (const std::string* name = FindFirstProperty(parts, {"accountname"})) return *name;
  if (const std::string* url = FindFirstProperty(parts, {"blobendpoint", "dfsendpoint"})) {
    return AccountOfEndpoint(*url);
  }
  return std::string(FirstLabel(PropertyOr(properties, "adls.account-host", "")));
}

Result<AzureAccount> AzureAccountOf(const Properties& properties, const std::string& host) {
  for (const std::string_view key : {"adls.token", "adls.credential"}) {
    if (!PropertyOr(properties, key, "").empty()) {
      return Error{Code::kUnsupported, fmt::format("property `{}` is not supported", key)};
    }
  }
  const Properties parts = PartsOf(PropertyOr(properties, "adls.connection-string", ""));
  const std::string owner = OwnerOf(properties);
  if (const std::string* of_parts = FindFirstProperty(parts, {"accountname"}); of_parts && *of_parts != owner) {
    return Error{Code::kInvalidArgument, "`adls.account-name` and `adls.connection-string` name different accounts"};
  }
  AzureAccount account;
  account.name = host.empty() ? owner : std::string(FirstLabel(host));
  if (account.name.empty()) {
    return Error{Code::kInvalidArgument,
                 "Azure: no account: set `adls.account-name`, or write container@ACCOUNT.dfs.core.windows.net"};
  }
  if (!IsName(account.name)) {
    return Error{Code::kInvalidArgument, fmt::format("Azure: `{}` is no name of an account", account.name)};
  }
  FIRN_TRY(SetServers(account, properties, parts, owner, host));
  // A token that names its account needs no other credentials.
  const std::string by_host = "adls.sas-token." + host, by_name = "adls.sas-token." + account.name;
  const std::string* sas = FindFirstProperty(properties, {by_host, by_name});
  if (!sas) {
    FIRN_TRY(SetCredentials(account, properties, parts, owner));
    return account;
  }
  account.sas_token = WithoutQuestionMark(*sas);
  return account;
}

}  // namespace firn::ports
