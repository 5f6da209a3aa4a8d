// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/ascii.h"

#include "ports/azure_account.h"
#include "service/configuration.h"

namespace firn::service {
namespace {

constexpr std::string_view kPrefix = "pyiceberg_";

/// "a__b__c__d" in at most three parts: "a", "b", "c__d".
std::vector<std::string> Parts(std::string_view text) {
  std::vector<std::string> parts;
  while (parts.size() < 2) {
    const std::size_t at = text.find("__");
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, at));
    text.remove_prefix(at + 2);
  }
  parts.emplace_back(text);
  return parts;
}

/// "s3__access_key_id" is "s3.access-key-id".
std::string PropertyName(const std::string& part) {
  std::string name;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] != '_') {
      name += part[i];
    } else if (i + 1 < part.size() && part[i + 1] == '_') {
      name += '.';
      ++i;
    } else {
      name += '-';
    }
  }
  return name;
}

}  // namespace

Surroundings ProcessSurroundings() {
  Surroundings surroundings;
  for (char** variable = environ; variable && *variable; ++variable) {
    const std::string_view text = *variable;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    surroundings.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  std::error_code ignored;
  surroundings.working_directory = std::filesystem::current_path(ignored).string();
  return surroundings;
}

Status ReadConfigurationVariables(const std::map<std::string, std::string>& environment, ConfigurationTree& tree) {
  for (const auto& [variable, value] : environment) {
    const std::string lower = AsciiLower(variable);
    if (!lower.starts_with(kPrefix) || lower == "pyiceberg_home") continue;
    std::vector<std::string> parts = Parts(std::string_view(lower).substr(kPrefix.size()));
    for (std::string& part : parts) part = PropertyName(part);
    if (parts[0] != "catalog") {
      std::string key = parts[0];
      for (std::size_t i = 1; i < parts.size(); ++i) key += "." + parts[i];
      tree.top.insert_or_assign(std::move(key), value);
      continue;
    }
    if (parts.size() < 3 || parts[1].empty() || parts[2].empty()) {
      return Error{Code::kInvalidArgument,
                   fmt::format("environment variable {}: write PYICEBERG_CATALOG__NAME__KEY", variable)};
    }
    tree.catalogs[parts[1]].insert_or_assign(parts[2], value);
  }
  return Ok();
}

ports::Properties StorageVariables(const std::map<std::string, std::string>& environment) {
  ports::Properties properties;
  const auto take = [&](std::string_view key, std::initializer_list<const char*> variables) {
    for (const char* variable : variables) {
      const auto found = environment.find(variable);
      if (found == environment.end() || found->second.empty()) continue;
      properties.insert_or_assign(std::string(key), found->second);
      return;
    }
  };
  take("s3.endpoint", {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  take("s3.region", {"AWS_REGION", "AWS_DEFAULT_REGION"});
  take("s3.access-key-id", {"AWS_ACCESS_KEY_ID"});
  take("s3.secret-access-key", {"AWS_SECRET_ACCESS_KEY"});
  take("s3.session-token", {"AWS_SESSION_TOKEN"});
  // For catalogs that sign their requests: below what the configuration says for them.
  take("aws.region", {"AWS_REGION", "AWS_DEFAULT_REGION"});
  take("aws.access-key-id", {"AWS_ACCESS_KEY_ID"});
  take("aws.secret-access-key", {"AWS_SECRET_ACCESS_KEY"});
  take("aws.session-token", {"AWS_SESSION_TOKEN"});
  // As adlfs and Azure's command line name them. AZURE_CLIENT_ID and the like are read by Azure's own chain.
  take("adls.connection-string", {"AZURE_STORAGE_CONNECTION_STRING"});
  take("adls.account-name", {"AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT"});
  take("adls.account-key", {"AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY"});
  take("adls.sas-token", {"AZURE_STORAGE_SAS_TOKEN"});
  // Google's clients take this for an emulator that wants no credentials.
  take("gcs.service.host", {"STORAGE_EMULATOR_HOST"});
  if (const auto host = properties.find("gcs.service.host"); host != properties.end()) {
    if (host->second.find("://") == std::string::npos) host->second = "http://" + host->second;
    properties.insert_or_assign("gcs.no-auth", "true");
  }
  return properties;
}

ports::Properties OverVariables(ports::Properties variables, const ports::Properties& properties) {
  const auto has = [&](std::initializer_list<std::string_view> keys) {
    return ports::FindFirstProperty(properties, keys) != nullptr;
  };
  const auto forget = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) variables.erase(key);
  };
  if (has({"s3.access-key-id", "client.access-key-id", "s3.anonymous"})) {
    forget({"s3.access-key-id", "s3.secret-access-key", "s3.session-token"});
  }
  if (has({"client.region"})) forget({"s3.region"});
  const auto named = properties.lower_bound("adls.sas-token.");
  const bool has_named = named != properties.end() && named->first.starts_with("adls.sas-token.");
  const std::string own = ports::AzureAccountNameOf(properties), theirs = ports::AzureAccountNameOf(variables);
  const bool of_another = !own.empty() && !theirs.empty() && own != theirs;
  if (of_another || has_named ||
      has({"adls.connection-string", "adls.account-key", "adls.auth.shared-key.account.key", "adls.sas-token",
           "adls.client-id", "adls.anon"})) {
    forget({"adls.connection-string", "adls.account-name", "adls.account-key", "adls.sas-token"});
  }
  if (has({"gcs.service.host", "gcs.endpoint"})) forget({"gcs.service.host", "gcs.no-auth"});
  return ports::Merged(std::move(variables), properties);
}

}  // namespace firn::service
