// SPDX-License-Identifier: Apache-2.0
#include "ports/glue_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/text_parts.h"
#include "ports/server_property.h"
#include "ports/tries.h"

namespace firn::ports {
namespace {

constexpr std::int64_t kTimeoutMs = 60'000;

/// What a table's entry and an update of it have in common.
constexpr std::array<const char*, 12> kInputMembers = {
    "Name",      "Description",       "Owner",         "LastAccessTime",   "LastAnalyzedTime",
    "Retention", "StorageDescriptor", "PartitionKeys", "ViewOriginalText", "ViewExpandedText",
    "TableType", "TargetTable"};

/// "EntityNotFoundException" of "__type": "com.amazonaws.glue#EntityNotFoundException".
std::string KindOf(const HttpResponse& response, const json::Value* body) {
  std::string kind;
  if (const std::string* header = FindHeader(response, "x-amzn-errortype")) kind = *header;
  const json::Value* type = body ? body->Find("__type") : nullptr;
  if (type && type->AsString()) kind = *type->AsString();
  kind = kind.substr(0, kind.find(':'));
  const std::size_t hash = kind.rfind('#');
  return hash == std::string::npos ? kind : kind.substr(hash + 1);
}

/// Kinds of errors by which Glue itself says that it has done nothing. Other answers below 500 may be those of
/// something in between, which has sent the request on.
bool IsRefusal(std::string_view kind) {
  constexpr std::string_view kKinds[] = {"AccessDeniedException",
                                         "AlreadyExistsException",
                                         "ExpiredTokenException",
                                         "GlueEncryptionException",
                                         "IncompleteSignature",
                                         "InvalidInputException",
                                         "InvalidSignatureException",
                                         "MissingAuthenticationTokenException",
                                         "PermissionTypeMismatchException",
                                         "SerializationException",
                                         "UnknownOperationException",
                                         "UnrecognizedClientException",
                                         "ValidationException"};
  return std::ranges::find(kKinds, kind) != std::end(kKinds);
}

Code CodeOf(int status, const std::string& kind, bool may_change) {
  if (kind == "EntityNotFoundException") return Code::kNotFound;
  // Another writer at this moment; also a version that is not the table's any more.
  if (kind == "ConcurrentModificationException" || kind == "VersionMismatchException") return Code::kConflict;
  if (kind.find("Throttl") != std::string::npos || kind == "ConcurrentRunsExceededException") return Code::kUnavailable;
  if (status == 429 && !(may_change && kind.empty())) return Code::kUnavailable;
  if (kind == "ResourceNumberLimitExceededException") return Code::kLimit;
  if (kind == "ResourceNotReadyException") return Code::kUnavailable;
  const bool is_refusal = may_change ? IsRefusal(kind) : kind != "OperationTimeoutException";
  if (status >= 400 && status < 500 && is_refusal) return Code::kInvalidArgument;
  return may_change ? Code::kOutcomeUnknown : Code::kUnavailable;
}

Error GlueError(const HttpResponse& response, bool may_change) {
  constexpr std::size_t kReasonBytesMax = 500;
  const auto body = json::Parse(response.body);
  const json::Value* object = body ? &*body : nullptr;
  const std::string kind = KindOf(response, object);
  std::string reason;
  for (const char* member : {"Message", "message"}) {
    const json::Value* value = object ? object->Find(member) : nullptr;
    if (value && value->AsString()) reason = OneLine(*value->AsString(), kReasonBytesMax);
  }
  return {CodeOf(response.status, kind, may_change),
          fmt::format("Glue answers {} {}: {}", response.status, kind.empty() ? "(no kind)" : kind, reason)};
}

std::string Parameter(const json::Value& table, std::string_view name) {
  const json::Value* parameters = table.Find("Parameters");
  const json::Value* value = parameters ? parameters->Find(name) : nullptr;
  return value && value->AsString() ? *value->AsString() : "";
}

Result<std::string> PointerOf(const TableIdentifier& id, const json::Value& table) {
  return PointerOfEntry(id, "Glue", Parameter(table, "table_type"), Parameter(table, "metadata_location"));
}

/// Empty: Glue gives none.
std::string VersionOf(const json::Value& table) {
  const json::Value* version = table.Find("VersionId");
  return version && version->AsString() ? *version->AsString() : "";
}

json::Value InputOf(const json::Value& table, const std::string& from, const std::string& to) {
  json::Value input = json::Value::Object();
  for (const char* member : kInputMembers) {
    if (const json::Value* value = table.Find(member)) input.Set(member, *value);
  }
  json::Value parameters = *table.Find("Parameters");
  parameters.Set("previous_metadata_location", from);
  parameters.Set("metadata_location", to);
  input.Set("Parameters", std::move(parameters));
  return input;
}

}  // namespace

Result<std::shared_ptr<Catalog>> GlueCatalog::Open(std::string name, const Properties& properties,
                                                   std::shared_ptr<Http> http, const FileIOFactory& make_io,
                                                   Clock& clock, std::uint64_t seed) {
  FIRN_ASSIGN(auto io, make_io(properties));
  std::shared_ptr<GlueCatalog> catalog(new GlueCatalog(std::move(name), std::move(io), std::move(http), clock, seed));
  FIRN_ASSIGN(catalog->signer_, AwsSignerOf(properties, "glue.", PropertyOr(properties, "glue.region", ""), "glue"));
  const std::string& region = catalog->signer_.region;
  FIRN_ASSIGN(const auto server, ServerProperty(properties, {"glue.endpoint"}));
  catalog->endpoint_ =
      server ? fmt::format("{}://{}/", server->scheme, server->host)
             : fmt::format("https://glue.{}.amazonaws.com{}/", region, region.starts_with("cn-") ? ".cn" : "");
  catalog->catalog_id_ = PropertyOr(properties, "glue.id", "");
  FIRN_ASSIGN(catalog->skips_archive_, BoolProperty(properties, "glue.skip-archive", true));
  return std::shared_ptr<Catalog>(std::move(catalog));
}

Result<HttpResponse> GlueCatalog::Send(std::string_view operation, json::Value body, bool may_change) {
  if (!catalog_id_.empty()) body.Set("CatalogId", catalog_id_);
  HttpRequest request{.method = "POST", .url = endpoint_, .headers = {}, .body = json::Write(body)};
  request.is_read_only = !may_change;
  request.headers = {{"Content-Type", "application/x-amz-json-1.1"},
                     {"X-Amz-Target", fmt::format("AWSGlue.{}", operation)}};
  request.timeout_ms = kTimeoutMs;
  FIRN_TRY(signer_.Sign(request, now_.Now()));
  return http_->Send(request);
}

Result<json::Value> GlueCatalog::Call(std::string_view operation, json::Value body) {
  FIRN_ASSIGN(const HttpResponse response, Send(operation, std::move(body), /*may_change=*/false));
  if (response.status != 200) return GlueError(response, /*may_change=*/false);
  auto answer = json::Parse(response.body);
  if (!answer) return std::move(answer.error()).In(fmt::format("Glue's answer to {}", operation));
  return answer;
}

Result<json::Value> GlueCatalog::GetTable(const TableIdentifier& id) {
  if (id.name_space.size() != 1) {
    return Error{Code::kNotFound, fmt::format("no table `{}`: Glue's databases have one level", ToString(id))};
  }
  json::Value body = json::Value::Object();
  body.Set("DatabaseName", id.name_space[0]);
  body.Set("Name", id.name);
  auto answer = Call("GetTable", std::move(body));
  if (!answer && answer.error().code == Code::kNotFound) {
    return Error{Code::kNotFound,
                 fmt::format("no table `{}` in catalog `{}`: {}", ToString(id), name(), answer.error().message)};
  }
  if (!answer) return std::move(answer.error()).In(ToString(id));
  json::Value* table = answer->Find("Table");
  if (!table || !table->is_object()) return Error{Code::kCorrupt, ToString(id) + ": Glue's answer has no `Table`"};
  return std::move(*table);
}

Result<std::string> GlueCatalog::ReadPointer(const TableIdentifier& id) {
  FIRN_ASSIGN(const json::Value table, GetTable(id));
  return PointerOf(id, table);
}

Status GlueCatalog::SwapPointer(const PointerSwap& swap) {
  const auto& [id, from, to, base, updated] = swap;
  auto table = GetTable(id);
  if (!table && table.error().code == Code::kNotFound) return Error{Code::kConflict, "the table is gone"};
  if (!table) return std::move(table.error());
  FIRN_ASSIGN(const std::string location, PointerOf(id, *table));
  if (location != from) return Error{Code::kConflict, "another commit came first"};
  const std::string version = VersionOf(*table);
  if (version.empty()) {
    return Error{Code::kUnsupported, "Glue gives no VersionId for the table: a commit could overwrite another one"};
  }
  json::Value body = json::Value::Object();
  body.Set("DatabaseName", id.name_space[0]);
  body.Set("TableInput", InputOf(*table, from, to));
  body.Set("SkipArchive", skips_archive_);
  body.Set("VersionId", version);
  auto response = Send("UpdateTable", std::move(body), /*may_change=*/true);
  if (response) return response->status == 200 ? Ok() : Settle(swap, version, GlueError(*response, true));
  Error& error = response.error();
  if (error.code != Code::kOutcomeUnknown && error.code != Code::kLimit) return std::move(error);  // it was never sent
  error.code = Code::kOutcomeUnknown;  // an answer that is too large was an answer
  return Settle(swap, version, std::move(error));
}

/// After an update that was not acknowledged. Its answer is missing, or it is a refusal, and then a gateway may have
/// sent the request twice and this is the answer to the second copy: only the table tells, and as long as it cannot be
/// read, nobody knows. Not found is no reading: a table that was renamed names our file all the same.
Status GlueCatalog::Settle(const PointerSwap& swap, const std::string& version, Error error) {
  // Without an answer the request may be on its way; and what Glue is at with this table now may be ours.
  // A throttled copy of the request says nothing about the first.
  const bool may_come =
      error.code == Code::kOutcomeUnknown || error.code == Code::kConflict || error.code == Code::kUnavailable;
  Error unknown{Code::kOutcomeUnknown, error.message};
  for (Tries reads(now_, {.count = 5, .first_pause_ms = 200}); reads.Next();) {
    const auto table = GetTable(swap.id);
    const auto location = table ? PointerOf(swap.id, *table) : Result<std::string>(table.error());
    if (!location) {
      unknown.message = fmt::format("{}; after that: {}", error.message, location.error().message);
      if (location.error().code == Code::kNotFound) break;
      continue;
    }
    if (*location == swap.to) return Ok();
    // Another location has another version than the request names: nothing of it can come any more.
    if (*location != swap.from) return DecideByLog(*location, swap.from, swap.to, std::move(unknown));
    const std::string now = VersionOf(*table);
    if (!now.empty() && now != version) return Error{Code::kConflict, "the table's entry was changed meanwhile"};
    if (!may_come) return error;
  }
  return unknown;
}

Result<std::vector<json::Value>> GlueCatalog::ListAll(std::string_view operation, json::Value body,
                                                      const char* member) {
  std::vector<json::Value> all;
  std::unordered_set<std::string> seen;
  while (true) {
    FIRN_ASSIGN(json::Value answer, Call(operation, body));
    if (json::Value* found = answer.Find(member)) std::ranges::move(found->elements(), std::back_inserter(all));
    FIRN_ASSIGN(const auto next, json::FindString(answer, "NextToken"));
    if (!next || next->empty()) return all;
    if (!seen.insert(*next).second) {
      return Error{Code::kUnavailable, fmt::format("{}: Glue sends the same page again and again", operation)};
    }
    body.Set("NextToken", *next);
  }
}

Result<std::vector<TableIdentifier>> GlueCatalog::ListTables() {
  FIRN_ASSIGN(const auto databases, ListAll("GetDatabases", json::Value::Object(), "DatabaseList"));
  std::vector<TableIdentifier> ids;
  for (const json::Value& database : databases) {
    FIRN_ASSIGN(const std::string name_space, json::GetString(database, "Name"));
    json::Value body = json::Value::Object();
    body.Set("DatabaseName", name_space);
    auto tables = ListAll("GetTables", std::move(body), "TableList");
    if (!tables && tables.error().code == Code::kNotFound) continue;  // dropped meanwhile
    if (!tables) return std::move(tables.error()).In(name_space);
    for (const json::Value& table : *tables) {
      if (!IsIcebergType(Parameter(table, "table_type"))) continue;
      FIRN_ASSIGN(std::string table_name, json::GetString(table, "Name"));
      ids.push_back({{name_space}, std::move(table_name)});
    }
  }
  return ids;
}

}  // namespace firn::ports
