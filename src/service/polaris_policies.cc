// SPDX-License-Identifier: Apache-2.0
#include "service/polaris_policies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "format/json/json.h"

namespace firn::service {
namespace {

constexpr std::size_t kPagesMax = 100;
constexpr std::size_t kPoliciesMax = 1'000;
constexpr std::int64_t kTimeoutMs = 10'000;  // looks wait for it
constexpr std::uint64_t kBodyBytesMax = std::uint64_t{1} << 20;
constexpr std::string_view kVersion = "2025-02-03";
constexpr std::array<std::string_view, 4> kTypes = {kPolarisDataCompaction, kPolarisMetadataCompaction,
                                                    kPolarisSnapshotExpiry, kPolarisOrphanFileRemoval};
constexpr std::string_view kOwnPrefix = "firn.";

Error Wrong(const PolarisPolicy& policy, std::string_view member, std::string_view what) {
  return {Code::kInvalidArgument,
          fmt::format("Polaris policy `{}` ({}): `{}` {}", policy.name, policy.type, member, what)};
}

/// A value of `config`, which may be text, a number or a word.
std::optional<std::string> ScalarText(const json::Value& value) {
  if (const std::string* text = value.AsString()) return *text;
  if (value.is_number()) return value.number_text();
  if (const auto word = value.AsBool()) return *word ? "true" : "false";
  return std::nullopt;
}

Status ReadTarget(const PolarisPolicy& policy, const json::Value& value, PolicyValue settings, PolicyValues& values) {
  const auto bytes = value.AsInt64();
  if (!bytes || *bytes <= 0) return Wrong(policy, "target_file_size_bytes", "is not a number of bytes above 0");
  settings.text = std::to_string(*bytes);
  const auto [known, added] = values.emplace("target-file-size-bytes", settings);
  if (!added && known->second.text != settings.text) {
    return Wrong(policy, "target_file_size_bytes", "is given twice, with different values");
  }
  return Ok();
}

Status ReadConfig(const PolarisPolicy& policy, const json::Value& config, const PolicyValue& place,
                  PolicyValues& values) {
  if (!config.is_object()) return Wrong(policy, "config", "is not an object");
  for (const auto& [key, value] : config.members()) {
    if (key == "target_file_size_bytes") {
      FIRN_TRY(ReadTarget(policy, value, place, values));
    } else if (key.starts_with(kOwnPrefix)) {
      const auto text = ScalarText(value);
      if (!text) return Wrong(policy, key, "is not a single value");
      const std::string own = key.substr(kOwnPrefix.size());
      if (!values.emplace(own, PolicyValue{*text, place.place}).second) return Wrong(policy, key, "is given twice");
    }
    // Other keys are for other services: the schema says that nobody can rely on them.
  }
  return Ok();
}

Result<PolicyValues> ReadContent(const PolarisPolicy& policy) {
  const auto content = json::Parse(policy.content);
  if (!content || !content->is_object()) return Wrong(policy, "content", "is not a JSON object");
  const PolicyValue place{.text = {}, .place = fmt::format("Polaris policy `{}`", policy.name)};
  PolicyValues values;
  const json::Value* enable = content->Find("enable");
  const auto enabled = enable ? enable->AsBool() : std::nullopt;
  if (!enabled) return Wrong(policy, "enable", "is not true or false");
  values.emplace("enabled", PolicyValue{*enabled ? "true" : "false", place.place});
  for (const auto& [key, value] : content->members()) {
    if (key == "version") {
      const std::string* version = value.AsString();
      if (!version || *version != kVersion) return Wrong(policy, key, "is not 2025-02-03");
    } else if (key == "target_file_size_bytes" && policy.type == kPolarisDataCompaction) {
      FIRN_TRY(ReadTarget(policy, value, place, values));
    } else if (key == "config") {
      FIRN_TRY(ReadConfig(policy, value, place, values));
    } else if (key != "enable") {
      return Wrong(policy, key, "is not known");
    }
  }
  return values;
}

/// Greater is nearer to the table.
std::pair<bool, std::size_t> Nearness(const PolarisPolicy& policy) {
  return {!policy.inherited, policy.name_space.size()};
}

/// A 404 of the API itself, not of a server that does not know the path.
bool NamesWhatIsMissing(const std::string& body) {
  const auto answer = json::Parse(body);
  const json::Value* error = answer ? answer->Find("error") : nullptr;
  const json::Value* type = error && error->is_object() ? error->Find("type") : nullptr;
  const std::string* text = type ? type->AsString() : nullptr;
  return text && text->starts_with("NoSuch");
}

Result<PolarisPolicy> ParsePolicy(const json::Value& value) {
  PolarisPolicy policy;
  FIRN_ASSIGN(policy.type, json::GetString(value, "policy-type"));
  FIRN_ASSIGN(policy.name, json::GetString(value, "name"));
  FIRN_ASSIGN(auto content, json::FindString(value, "content"));
  policy.content = std::move(content).value_or("");
  FIRN_ASSIGN(const auto version, json::FindInt64(value, "version"));
  policy.version = version.value_or(0);
  if (const json::Value* inherited = value.Find("inherited")) policy.inherited = inherited->AsBool().value_or(false);
  if (const json::Value* levels = value.Find("namespace")) {
    for (const json::Value& level : levels->elements()) {
      if (const std::string* text = level.AsString()) policy.name_space.push_back(*text);
    }
  }
  return policy;
}

}  // namespace

Result<PolicyValues> PolarisValues(const std::vector<PolarisPolicy>& policies) {
  PolicyValues values;
  for (const std::string_view type : kTypes) {
    const PolarisPolicy* nearest = nullptr;
    const PolarisPolicy* rival = nullptr;
    for (const PolarisPolicy& policy : policies) {
      if (policy.type != type) continue;
      if (nearest && Nearness(policy) < Nearness(*nearest)) continue;
      rival = nearest && Nearness(policy) == Nearness(*nearest) ? nearest : nullptr;
      nearest = &policy;
    }
    if (!nearest) continue;
    if (rival)
      return Wrong(*nearest, "policy-type", fmt::format("is that of `{}` too, and both are equally near", rival->name));
    FIRN_ASSIGN(PolicyValues read, ReadContent(*nearest));
    if (type != kPolarisDataCompaction) continue;
    auto fault = FindFault(read);
    if (fault) return std::move(*fault).ToError().In(fmt::format("Polaris policy `{}` ({})", nearest->name, type));
    values = std::move(read);
  }
  return values;
}

Result<std::string> ParseApplicablePolicies(const std::string& body, std::vector<PolarisPolicy>& policies) {
  FIRN_ASSIGN(const json::Value answer, json::Parse(body).In("answer of the catalog"));
  const json::Value* list = answer.Find("applicable-policies");
  if (!list || !list->is_array()) return Error{Code::kCorrupt, "answer of the catalog: no `applicable-policies`"};
  for (const json::Value& element : list->elements()) {
    if (policies.size() == kPoliciesMax) {
      return Error{Code::kLimit, fmt::format("more than {} policies for one table", kPoliciesMax)};
    }
    FIRN_ASSIGN(PolarisPolicy policy, ParsePolicy(element).In("applicable-policies"));
    policies.push_back(std::move(policy));
  }
  FIRN_ASSIGN(auto token, json::FindString(answer, "next-page-token"));
  return std::move(token).value_or("");
}

Result<std::unique_ptr<PolarisPolicies>> PolarisPolicies::Make(const ports::Properties& properties,
                                                               std::shared_ptr<ports::Http> http, ports::Clock& clock,
                                                               bool has_to_list) {
  FIRN_ASSIGN(auto session, ports::RestSession::Open(properties, std::move(http), clock));
  const bool is_listed = session->Lists(kPolarisEndpoint);
  if (has_to_list && !is_listed) {
    return Error{Code::kUnsupported, fmt::format("the catalog does not list `{}`", kPolarisEndpoint)};
  }
  const std::string* prefix = ports::FindFirstProperty(session->properties(), {"prefix", "warehouse"});
  if (!prefix) return Error{Code::kUnsupported, "the catalog has no prefix: it is no Polaris catalog"};
  std::unique_ptr<PolarisPolicies> made(new PolarisPolicies());
  made->url_ = fmt::format("{}/polaris/v1/{}/applicable-policies", session->uri(), ports::UrlEncode(*prefix));
  made->is_listed_ = is_listed;
  made->session_ = std::move(session);
  return made;
}

Result<std::vector<PolarisPolicy>> PolarisPolicies::Applicable(const std::vector<std::string>& name_space,
                                                               const std::string& table) {
  std::vector<PolarisPolicy> policies;
  std::string token;
  for (std::size_t page = 0; page < kPagesMax; ++page) {
    ports::HttpHeaders query = {{"namespace", fmt::format("{}", fmt::join(name_space, session_->separator()))},
                                {"target-name", table}};
    if (!token.empty()) query.emplace_back("page-token", token);
    auto response = session_->SendTo(
        {.url = url_ + "?" + ports::FormEncode(query), .timeout_ms = kTimeoutMs, .body_max_bytes = kBodyBytesMax});
    if (!response) return std::move(response.error()).In("policies");
    if (response->status != 200) {
      Error error = ports::RestError(*response, /*commit=*/false);
      // Where the catalog lists the endpoint, such a 404 comes from something in front of it.
      if (response->status == 404 && !NamesWhatIsMissing(response->body)) {
        error.code = is_listed_ ? Code::kUnavailable : Code::kUnsupported;
      }
      return std::move(error).In("policies");
    }
    FIRN_ASSIGN(token, ParseApplicablePolicies(response->body, policies).In("policies"));
    if (token.empty()) return policies;
  }
  return Error{Code::kLimit, fmt::format("policies: more than {} pages", kPagesMax)};
}

}  // namespace firn::service
