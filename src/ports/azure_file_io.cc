// SPDX-License-Identifier: Apache-2.0
#include "ports/azure_file_io.h"

#include <arrow/filesystem/azurefs.h>
#include <fmt/format.h>

#include "ports/arrow_file_io.h"
#include "ports/azure_account.h"
#include "ports/azure_blobs.h"
#include "ports/clock.h"
#include "ports/conditional_file_io.h"
#include "ports/location.h"

namespace firn::ports {
namespace {

namespace fs = arrow::fs;

/// The part of a location behind "scheme://" and before its first slash.
std::string_view AuthorityOf(std::string_view location) {
  const std::string_view rest = location.substr(SchemeOf(location).size() + 3);
  return rest.substr(0, rest.find('/'));
}

Result<std::string> ArrowPath(const std::string& location) {
  if (!IsAzureScheme(SchemeOf(location))) {
    return Error{Code::kUnsupported, fmt::format("`{}` is no location of Azure storage", location)};
  }
  FIRN_ASSIGN(std::string path, BucketPath(location));
  const std::string_view authority = AuthorityOf(location);
  const std::size_t at = authority.find('@');
  if (at != std::string_view::npos) path.erase(at, authority.size() - at);
  return path;
}

arrow::Status SetCredential(fs::AzureOptions& options, const AzureAccount& account) {
  if (!account.sas_token.empty()) return options.ConfigureSASCredential("?" + account.sas_token);
  if (!account.key.empty()) return options.ConfigureAccountKeyCredential(account.key);
  if (!account.client_secret.empty()) {
    return options.ConfigureClientSecretCredential(account.tenant_id, account.client_id, account.client_secret);
  }
  if (!account.client_id.empty()) return options.ConfigureManagedIdentityCredential(account.client_id);
  return account.anonymous ? options.ConfigureAnonymousCredential() : options.ConfigureDefaultCredential();
}

Result<std::shared_ptr<fs::FileSystem>> MakeClient(const AzureAccount& account) {
  fs::AzureOptions options;
  options.account_name = account.name;
  options.blob_storage_authority = account.blob.authority;
  options.blob_storage_scheme = account.blob.scheme;
  options.dfs_storage_authority = account.dfs.authority;
  options.dfs_storage_scheme = account.dfs.scheme;
  if (const auto set = SetCredential(options, account); !set.ok()) {
    return Error{Code::kInvalidArgument, "Azure: " + set.message()};
  }
  auto files = fs::AzureFileSystem::Make(options);
  if (!files.ok()) return Error{Code::kUnavailable, "Azure: " + files.status().message()};
  return std::shared_ptr<fs::FileSystem>(std::move(*files));
}

}  // namespace

bool IsAzureScheme(std::string_view scheme) {
  return scheme == "abfs" || scheme == "abfss" || scheme == "wasb" || scheme == "wasbs";
}

std::string_view AzureHostOf(std::string_view location) {
  const std::string_view authority = AuthorityOf(location);
  const std::size_t at = authority.find('@');
  return at == std::string_view::npos ? std::string_view{} : authority.substr(at + 1);
}

Result<std::unique_ptr<FileIO>> OpenAzureFileIO(const Properties& properties, const std::string& host) {
  FIRN_ASSIGN(const AzureAccount account, AzureAccountOf(properties, host));
  FIRN_ASSIGN(auto files, MakeClient(account));
  // Its streams are there under their name from the beginning.
  ArrowStore store{.path_of = ArrowPath, .held_bytes = kSmallUploadBytes};
  if (account.sas_token.empty() && account.key.empty()) {
    store.exclusive_with = "adls.account-key, a shared access signature or a connection string";
    return MakeArrowFileIO(std::move(files), std::move(store));
  }
  static SystemClock clock;
  FIRN_ASSIGN(auto http, MakeCurlHttp({}));
  const auto blobs = std::make_shared<AzureBlobs>(http, account, clock);
  store.remove = [blobs](const std::string& location) -> Status {
    FIRN_ASSIGN(const std::string path, ArrowPath(location));
    return blobs->Delete(path).In(location);
  };
  return MakeConditionalFileIO(MakeArrowFileIO(std::move(files), std::move(store)), std::move(http),
                               AzureObjects(account, ArrowPath, clock), clock);
}

}  // namespace firn::ports
