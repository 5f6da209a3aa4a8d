// SPDX-License-Identifier: Apache-2.0
//
// An account of Azure's storage as properties describe it: where it is, and what opens it.
//
// In: the host of a location ("account.dfs.core.windows.net", may be empty), properties adls.account-name,
//   adls.account-key, adls.sas-token (also adls.sas-token.ACCOUNT and adls.sas-token.HOST, which go first),
//   adls.connection-string, adls.account-host, adls.tenant-id, adls.client-id, adls.client-secret, adls.anon,
//   adls.blob-storage-authority, adls.dfs-storage-authority, adls.blob-storage-scheme, adls.dfs-storage-scheme; Java's
//   adls.auth.shared-key.account.name and .key; warehouse, whose account owns the keys where nothing else says so.
// Out: name, servers, one kind of credentials; none means the usual Azure chain.
// Guarantees: keys and signatures of another account than the location's, and those of which nobody says whose they
//   are, are refused, never sent. The servers are of a cloud of Azure (core.windows.net, core.chinacloudapi.cn,
//   core.usgovcloudapi.net, fabric.microsoft.com) or named by properties; no other host of a location gets anything.
// Threads: pure.
// Errors: kInvalidArgument (no account, another account, an unknown host, half of a pair, a connection string that
//   cannot be read), kUnsupported (adls.token, adls.credential), each without values.
// Source: property names of PyIceberg's io and of Java's AzureProperties; what a connection string may hold:
//   https://learn.microsoft.com/azure/storage/common/storage-configure-connection-string
#pragma once

#include <string>
#include <string_view>

#include "ports/properties.h"

namespace firn::ports {

struct AzureService {
  std::string scheme = "https";
  /// ".blob.core.windows.net": behind the name of the account; "127.0.0.1:10000": the name is the first of the path.
  std::string authority;
};

struct AzureAccount {
  std::string name;
  AzureService blob{.authority = ".blob.core.windows.net"};
  AzureService dfs{.authority = ".dfs.core.windows.net"};
  // The first that is not empty counts.
  std::string sas_token;  // without a question mark
  std::string key;
  std::string tenant_id, client_id, client_secret;
  bool anonymous = false;
};

/// That of adls.account-name, of the connection string or of adls.account-host; empty: none is named.
std::string AzureAccountNameOf(const Properties& properties);
/// "account" of "abfss://container@account.dfs.core.windows.net/path"; empty: it names none, or is elsewhere.
std::string AzureAccountIn(const std::string& location);
Result<AzureAccount> AzureAccountOf(const Properties& properties, const std::string& host);

}  // namespace firn::ports
