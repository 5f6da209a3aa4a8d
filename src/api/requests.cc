// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "api/answer.h"
#include "api/route.h"
#include "api/row_json.h"
#include "orient/service_policy.h"

namespace firn::api {
namespace {

constexpr std::array<std::string_view, 5> kMembers = {"table", "action", "priority", "deadline_ms", "partitions"};
constexpr std::size_t kPartitionsMax = 1'000;

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

Status ReadPartitions(const json::Value& value, service::NewRequest& request) {
  if (!value.is_array() || value.elements().size() > kPartitionsMax) {
    return Invalid(fmt::format("`partitions` is not an array of at most {}", kPartitionsMax));
  }
  for (const json::Value& element : value.elements()) {
    const std::string* text = element.AsString();
    if (text == nullptr || text->size() > 4'096) return Invalid("`partitions` has an element that is not a partition");
    request.partitions.push_back(*text);
  }
  return Ok();
}

Result<service::NewRequest> ReadRequest(std::string_view body) {
  const auto parsed = json::Parse(body);
  if (!parsed) return Invalid("the body is not JSON: " + parsed.error().message);
  if (!parsed->is_object()) return Invalid("the body is not a JSON object");
  for (const auto& [name, value] : parsed->members()) {
    if (std::find(kMembers.begin(), kMembers.end(), name) == kMembers.end()) {
      return Invalid(fmt::format("`{}` is not a member of a request", name.substr(0, 64)));
    }
  }
  service::NewRequest request;
  const json::Value* table = parsed->Find("table");
  const json::Value* action = parsed->Find("action");
  if (table == nullptr) return Invalid("`table` is missing");
  if (table->AsString() == nullptr || table->AsString()->empty()) return Invalid("`table` is no text, or empty");
  if (action == nullptr) return Invalid("`action` is missing");
  if (action->AsString() == nullptr) return Invalid("`action` is no text");
  request.table = *table->AsString();
  request.action = *action->AsString();
  if (const auto& known = service::RequestActions(); std::ranges::find(known, request.action) == known.end()) {
    return Invalid(fmt::format("`action` is none of {}", fmt::join(known, ", ")));
  }
  if (const json::Value* priority = parsed->Find("priority")) {
    request.priority = priority->AsDouble().value_or(-1);
    if (!(request.priority >= orient::kPriorityMin && request.priority <= orient::kPriorityMax)) {
      return Invalid(fmt::format("`priority` is not between {} and {}", orient::kPriorityMin, orient::kPriorityMax));
    }
  }
  if (const json::Value* deadline = parsed->Find("deadline_ms"); deadline != nullptr && !deadline->is_null()) {
    request.deadline_ms = deadline->AsInt64().value_or(-1);
    if (request.deadline_ms <= 0) return Invalid("`deadline_ms` is not a time");
  }
  if (const json::Value* partitions = parsed->Find("partitions")) FIRN_TRY(ReadPartitions(*partitions, request));
  return request;
}

Response AddRequest(const Call& call) {
  const auto request = ReadRequest(call.request.body);
  if (!request) return ErrorAnswer(request.error());
  const auto id = call.control.AddRequest(*request);
  if (!id) return ErrorAnswer(id.error());
  json::Value body = json::Value::Object();
  body.Set("id", *id);
  if (const auto summary = call.fleet.Summary()) body.Set("shadow", summary->shadow);
  return JsonAnswer(body, 202);
}

Response ListRequests(const Call& call) {
  const auto page = call.query.Page();
  if (!page) return ErrorAnswer(page.error());
  return PageAnswer(call.fleet.Requests(*page), [](const service::RequestRow& row) { return ToJson(row); });
}

}  // namespace

std::vector<Route> RequestRoutes() {
  return {
      {.method = "GET", .pattern = "/api/v1/requests", .query = {"limit", "after"}, .answer = ListRequests},
      {.method = "POST", .pattern = "/api/v1/requests", .need = Need::kWrite, .answer = AddRequest},
  };
}

}  // namespace firn::api
