// SPDX-License-Identifier: Apache-2.0
#include "ports/rest_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ports/azure_account.h"
#include "ports/location.h"
#include "ports/table_identity.h"
#include "ports/vended_credentials.h"

namespace firn::ports {
namespace {

constexpr std::size_t kNamespacesMax = 100'000;
constexpr std::size_t kFileIOsKept = 16;
constexpr std::string_view kCredentialsEndpoint = "GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials";

json::Value ToJson(const TableIdentifier& id) {
  json::Value name_space = json::Value::Array();
  for (const std::string& part : id.name_space) name_space.Append(part);
  json::Value object = json::Value::Object();
  object.Set("namespace", std::move(name_space));
  object.Set("name", id.name);
  return object;
}

std::string CommitBody(const LoadedTable& base, const TableCommit& commit) {
  json::Value requirements = json::Value::Array();
  const bool has_uuid = std::ranges::any_of(commit.requirements, [](const iceberg::TableRequirement& requirement) {
    return std::holds_alternative<iceberg::AssertTableUuid>(requirement);
  });
  // Without it a table that was dropped and made again under the same name would take the commit.
  if (!has_uuid && !base.metadata->table_uuid().empty()) {
    requirements.Append(iceberg::ToJson(iceberg::AssertTableUuid{base.metadata->table_uuid()}));
  }
  for (const auto& requirement : commit.requirements) requirements.Append(iceberg::ToJson(requirement));
  json::Value updates = json::Value::Array();
  for (const auto& update : commit.updates) {
    updates.Append(iceberg::ToJson(update, base.metadata->format_version()));
  }
  json::Value body = json::Value::Object();
  body.Set("identifier", ToJson(base.id));
  body.Set("requirements", std::move(requirements));
  body.Set("updates", std::move(updates));
  return json::Write(body);
}

/// Table-level configuration: `config`, under the storage credential whose prefix fits the table best.
std::vector<std::pair<std::string, std::string>> ConfigOf(const json::Value& answer, const std::string& location) {
  const json::Value* best = nullptr;
  std::size_t best_size = 0;
  if (const json::Value* credentials = answer.Find("storage-credentials")) {
    for (const json::Value& credential : credentials->elements()) {
      const json::Value* prefix = credential.Find("prefix");
      if (!prefix || !prefix->AsString() || !location.starts_with(*prefix->AsString())) continue;
      if (best && prefix->AsString()->size() <= best_size) continue;
      best = credential.Find("config");
      best_size = prefix->AsString()->size();
    }
  }
  Properties config;
  for (const json::Value* object : {answer.Find("config"), best}) {
    if (!object) continue;
    for (const auto& [key, value] : object->members()) {
      if (value.AsString()) config.insert_or_assign(key, *value.AsString());
    }
  }
  // A signature that does not say of which account is for that of the table.
  const std::string account = AzureAccountIn(location);
  if (!account.empty() && FindFirstProperty(config, {"adls.sas-token"})) config.emplace("adls.account-name", account);
  return {config.begin(), config.end()};
}

/// A table out of the answer to a load or a commit.
Result<LoadedTable> TableOf(const TableIdentifier& id, json::Value answer) {
  FIRN_ASSIGN(const auto location, json::FindString(answer, "metadata-location"));
  json::Value* tree = answer.Find("metadata");
  if (!tree) return Error{Code::kCorrupt, "the answer has no `metadata`"};
  FIRN_ASSIGN(auto metadata, iceberg::TableMetadata::FromTree(std::move(*tree)));
  auto shared = std::make_shared<const iceberg::TableMetadata>(std::move(metadata));
  auto config = ConfigOf(answer, shared->location());
  return LoadedTable{id, location.value_or(""), std::move(shared), std::move(config)};
}

std::string TokenOf(const LoadedTable& table) {
  for (const auto& [key, value] : table.config) {
    if (key == "token") return value;
  }
  return "";
}

}  // namespace

Result<std::shared_ptr<Http>> MakeRestHttp(const Properties& properties, const std::atomic<bool>* stop) {
  HttpOptions options;
  FIRN_ASSIGN(options.connect_timeout_ms,
              IntProperty(properties, "rest.client.connection-timeout-ms", 10'000, 1, 3'600'000));
  options.ca_bundle_path = PropertyOr(properties, "ssl.cabundle", "");
  options.client_certificate_path = PropertyOr(properties, "ssl.client.cert", "");
  options.client_key_path = PropertyOr(properties, "ssl.client.key", "");
  options.stop = stop;
  return MakeCurlHttp(std::move(options));
}

Result<std::shared_ptr<Catalog>> RestCatalog::Open(std::string name, const Properties& properties,
                                                   std::shared_ptr<Http> http, FileIOFactory make_io, Clock& clock,
                                                   std::uint64_t seed) {
  FIRN_ASSIGN(auto session, RestSession::Open(properties, std::move(http), clock));
  return std::shared_ptr<Catalog>(
      new RestCatalog(std::move(name), std::move(session), std::move(make_io), clock, seed));
}

std::string RestCatalog::TablePath(const TableIdentifier& id) const {
  return fmt::format("namespaces/{}/tables/{}", session_->NamespacePath(id.name_space), UrlEncode(id.name));
}

Result<LoadedTable> RestCatalog::LoadTable(const TableIdentifier& id) {
  const std::string table = ToString(id);
  if (id.name_space.empty()) {
    return Error{Code::kInvalidArgument, fmt::format("table `{}`: a REST catalog needs a namespace", table)};
  }
  // Always all snapshots: expiry and conflict checks must see those that no ref names.
  FIRN_ASSIGN(json::Value answer, session_->Get(TablePath(id) + "?snapshots=all", table));
  auto loaded = TableOf(id, std::move(answer));
  if (!loaded) return std::move(loaded.error()).In(table);
  return loaded;
}

Result<LoadedTable> RestCatalog::CommitTable(const LoadedTable& base, const TableCommit& commit) {
  const std::string table = ToString(base.id);
  HttpHeaders headers;
  if (session_->has_idempotency()) {
    const std::lock_guard lock(mutex_);
    headers.emplace_back("Idempotency-Key", random_.NewUuidV7(clock_.Now()));
  }
  auto response =
      session_->Send("POST", TablePath(base.id), CommitBody(base, commit), std::move(headers), TokenOf(base));
  if (!response) {
    // An answer that is too large was an answer: the server has acted.
    if (response.error().code == Code::kLimit) response.error().code = Code::kOutcomeUnknown;
    return std::move(response.error()).In(table);
  }
  if (response->status != 200) return RestError(*response, /*commit=*/true).In(table);
  const auto unreadable = [&table](Error error) {
    error.code = Code::kOutcomeUnknown;
    return std::move(error).In(table + ": the catalog took the commit, but its answer cannot be read");
  };
  auto answer = json::Parse(response->body);
  if (!answer) return unreadable(std::move(answer.error()));
  auto loaded = TableOf(base.id, std::move(*answer));
  if (!loaded) return unreadable(std::move(loaded.error()));
  if (loaded->config.empty()) loaded->config = base.config;
  return loaded;
}

Properties RestCatalog::StorageProperties(const Properties& config) const {
  Properties properties = session_->properties();
  // Keys of the table come with a token of their own, or with none.
  if (config.contains("s3.access-key-id")) properties.erase("s3.session-token");
  return Merged(std::move(properties), config);
}

Result<EndingFileIO> RestCatalog::MakeStorage(const Properties& config) {
  FIRN_ASSIGN(const TimestampMs ends_at, VendedCredentialsEnd(config));
  FIRN_ASSIGN(auto io, make_io_(StorageProperties(config)));
  return EndingFileIO{std::move(io), ends_at};
}

/// With credentials of .../credentials, if the server has it, or of the table loaded anew.
Result<EndingFileIO> RestCatalog::RenewStorage(const TableIdentifier& id, const std::string& location,
                                               Properties config) {
  const bool has_endpoint = session_->Lists(kCredentialsEndpoint);
  const std::string table = ToString(id);
  FIRN_ASSIGN(const json::Value answer,
              session_->Get(TablePath(id) + (has_endpoint ? "/credentials" : "?snapshots=all"), table));
  auto renewed = ConfigOf(answer, location);
  if (renewed.empty()) return Error{Code::kUnavailable, table + ": the catalog has no new credentials for the table"};
  // A new key without a token or an end must not inherit those of the old one.
  EraseVendedTokens(config);
  for (auto& [key, value] : renewed) config.insert_or_assign(key, std::move(value));
  return MakeStorage(config);
}

Result<std::shared_ptr<FileIO>> RestCatalog::TableIO(const LoadedTable& table) {
  const Properties config(table.config.begin(), table.config.end());
  Properties properties = StorageProperties(config);
  // Keys with a token end also where the catalog does not say when: the storage's refusal tells.
  FIRN_ASSIGN(const TimestampMs ends_at, VendedCredentialsEnd(config));
  const bool ends = ends_at.value > 0 || HasVendedToken(config);
  // Credentials that end are renewed as those of one table.
  if (ends) properties.insert_or_assign("", ToString(table.id));
  const std::lock_guard lock(mutex_);
  if (const auto found = ios_.find(properties); found != ios_.end()) return found->second;
  FIRN_ASSIGN(EndingFileIO storage, MakeStorage(config));
  std::shared_ptr<FileIO> io = storage.io;
  if (ends) {
    const auto renew = [this, id = table.id, location = table.metadata->location(), config] {
      return RenewStorage(id, location, config);
    };
    io = std::make_shared<RenewedFileIO>(std::move(storage), renew, clock_);
  }
  // Vended credentials change all the time; what is still in use lives on without the map.
  if (ios_.size() >= kFileIOsKept) ios_.clear();
  ios_.emplace(std::move(properties), io);
  return io;
}

Result<std::vector<json::Value>> RestCatalog::ListAll(const std::string& path, HttpHeaders query, const char* member) {
  std::vector<json::Value> all;
  std::unordered_set<std::string> seen;
  std::string page;
  query.emplace_back("pageToken", "");
  while (true) {
    query.back().second = page;
    FIRN_ASSIGN(json::Value answer, session_->Get(path + "?" + FormEncode(query), path));
    if (json::Value* found = answer.Find(member)) std::ranges::move(found->elements(), std::back_inserter(all));
    FIRN_ASSIGN(const auto next, json::FindString(answer, "next-page-token"));
    if (!next || next->empty()) return all;
    if (!seen.insert(*next).second) {
      return Error{Code::kUnavailable, path + ": the catalog sends the same page again and again"};
    }
    page = *next;
  }
}

Status RestCatalog::AddNamespaces(const std::vector<std::string>& parent,
                                  std::vector<std::vector<std::string>>& found) {
  HttpHeaders query;
  if (!parent.empty()) {
    std::string text = parent.front();
    for (std::size_t i = 1; i < parent.size(); ++i) text += session_->separator() + parent[i];
    query.emplace_back("parent", text);
  }
  FIRN_ASSIGN(const auto names, ListAll("namespaces", std::move(query), "namespaces"));
  for (const json::Value& value : names) {
    std::vector<std::string> parts;
    for (const json::Value& part : value.elements()) {
      if (part.AsString()) parts.push_back(*part.AsString());
    }
    // Servers that do not know `parent` answer with the top level again.
    if (parts.size() == parent.size() + 1 && std::ranges::equal(parent, std::span(parts).first(parent.size()))) {
      found.push_back(std::move(parts));
    }
  }
  return Ok();
}

Status RestCatalog::AddTables(const std::vector<std::string>& name_space, std::vector<TableIdentifier>& tables) {
  const std::string path = fmt::format("namespaces/{}/tables", session_->NamespacePath(name_space));
  FIRN_ASSIGN(const auto identifiers, ListAll(path, {}, "identifiers"));
  for (const json::Value& identifier : identifiers) {
    FIRN_ASSIGN(std::string table, json::GetString(identifier, "name"));
    tables.push_back({name_space, std::move(table)});
  }
  return Ok();
}

Result<std::vector<TableIdentifier>> RestCatalog::ListTables() {
  std::vector<std::vector<std::string>> namespaces;
  FIRN_TRY(AddNamespaces({}, namespaces));
  std::vector<TableIdentifier> tables;
  for (std::size_t i = 0; i < namespaces.size(); ++i) {
    if (namespaces.size() > kNamespacesMax) {
      return Error{Code::kLimit, fmt::format("catalog `{}` has more than {} namespaces", name_, kNamespacesMax)};
    }
    const std::vector<std::string> name_space = namespaces[i];
    FIRN_TRY(AddTables(name_space, tables));
    FIRN_TRY(AddNamespaces(name_space, namespaces));
  }
  return tables;
}

}  // namespace firn::ports
