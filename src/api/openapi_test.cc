// SPDX-License-Identifier: Apache-2.0
// The document and the service say the same: each route is in it, and each answer has the shape that it promises.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/api.h"
#include "api/fleet_fixture.h"
#include "api/web_files.h"
#include "format/json/json.h"

namespace firn::api {
namespace {

const json::Value& Document() {
  static const auto* const document = new json::Value(*json::Parse(FindWebFile("openapi.json")->bytes));
  return *document;
}

bool IsKind(const json::Value& value, std::string_view type) {
  if (type == "integer") return value.AsInt64().has_value();
  if (type == "number") return value.is_number();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_bool();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  return type == "null" && value.is_null();
}

bool HasType(const json::Value& value, const json::Value& type) {
  if (const std::string* word = type.AsString()) return IsKind(value, *word);
  for (const json::Value& one : type.elements()) {
    if (IsKind(value, *one.AsString())) return true;
  }
  return false;
}

/// The first way in which `value` is not as `schema` says; empty if it is.
std::string Difference(const json::Value& value, const json::Value& schema, const std::string& at);

std::string DifferenceOfObject(const json::Value& value, const json::Value& schema, const std::string& at) {
  const json::Value* properties = schema.Find("properties");
  if (const json::Value* required = schema.Find("required")) {
    for (const json::Value& name : required->elements()) {
      if (value.Find(*name.AsString()) == nullptr) return fmt::format("{}.{} is missing", at, *name.AsString());
    }
  }
  for (const auto& [name, member] : value.members()) {
    const json::Value* known = properties != nullptr ? properties->Find(name) : nullptr;
    const json::Value* open = schema.Find("additionalProperties");
    if (known == nullptr && open != nullptr && open->AsBool() == false)
      return fmt::format("{}.{} is not in the document", at, name);
    const std::string found = known != nullptr ? Difference(member, *known, at + "." + name) : "";
    if (!found.empty()) return found;
  }
  return "";
}

std::string Difference(const json::Value& value, const json::Value& schema, const std::string& at) {
  if (const json::Value* reference = schema.Find("$ref")) {
    const std::string& path = *reference->AsString();
    const json::Value* target = Document().Find("components")->Find("schemas")->Find(path.substr(path.rfind('/') + 1));
    return target != nullptr ? Difference(value, *target, at) : path + " does not exist";
  }
  if (const json::Value* any = schema.Find("anyOf")) {
    std::string last;
    for (const json::Value& one : any->elements()) {
      last = Difference(value, one, at);
      if (last.empty()) return "";
    }
    return last;
  }
  const json::Value* type = schema.Find("type");
  if (type != nullptr && !HasType(value, *type)) return fmt::format("{} is {}", at, json::Write(value).substr(0, 80));
  if (const json::Value* words = schema.Find("enum")) {
    const auto& list = words->elements();
    if (std::find(list.begin(), list.end(), value) == list.end())
      return fmt::format("{} is {}", at, json::Write(value));
  }
  if (value.is_array() && schema.Find("items") != nullptr) {
    for (const json::Value& element : value.elements()) {
      const std::string found = Difference(element, *schema.Find("items"), at + "[]");
      if (!found.empty()) return found;
    }
  }
  return value.is_object() ? DifferenceOfObject(value, schema, at) : "";
}

TEST(OpenApi, NamesEachRouteAndNothingElse) {
  std::set<std::string> served;
  for (const Route& route : AllRoutes()) {
    const bool file = route.pattern == "/" || FindWebFile(std::string_view(route.pattern).substr(1)) != nullptr;
    if (!file) served.insert(route.method + " " + route.pattern);
  }
  std::set<std::string> documented;
  for (const auto& [path, methods] : Document().Find("paths")->members()) {
    for (const auto& [method, operation] : methods.members()) {
      documented.insert((method == "get" ? "GET " : "POST ") + path);
    }
  }
  EXPECT_EQ(served, documented);
  EXPECT_GT(served.size(), 20U);
}

TEST(OpenApi, NamesEachParameterAndNothingElse) {
  for (const Route& route : AllRoutes()) {
    const json::Value* path = Document().Find("paths")->Find(route.pattern);
    if (path == nullptr) continue;
    std::multiset<std::string> documented;
    if (const json::Value* parameters = path->Find(route.method == "GET" ? "get" : "post")->Find("parameters")) {
      for (const json::Value& one : parameters->elements()) {
        const std::string& name = *one.Find("name")->AsString();
        documented.insert(*one.Find("in")->AsString() == "path" ? "{" + name + "}" : name);
      }
    }
    std::multiset<std::string> served(route.query.begin(), route.query.end());
    for (std::size_t from = 0; (from = route.pattern.find('{', from)) != std::string::npos; ++from) {
      served.insert(route.pattern.substr(from, route.pattern.find('}', from) + 1 - from));
    }
    EXPECT_EQ(served, documented) << route.method << " " << route.pattern;
  }
}

/// The document and the dashboard are no C++: each has its own list of what can be asked for.
TEST(OpenApi, ActionsOfRequests_AreThoseOfTheService) {
  const json::Value& request = *Document().Find("components")->Find("schemas")->Find("NewRequest");
  std::vector<std::string> documented;
  for (const json::Value& word : request.Find("properties")->Find("action")->Find("enum")->elements()) {
    documented.push_back(*word.AsString());
  }
  EXPECT_EQ(documented, service::RequestActions());
  const std::string_view page = FindWebFile("pages/requests.js")->bytes;
  const std::size_t begin = page.find("const ACTIONS = [");
  ASSERT_NE(begin, std::string_view::npos);
  const std::string_view list = page.substr(begin, page.find(';', begin) - begin);
  for (const std::string& action : service::RequestActions()) {
    EXPECT_NE(list.find("['" + action + "', "), std::string_view::npos) << action << " is not in " << list;
  }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(list, '[')), service::RequestActions().size() + 1) << list;
}

struct Asked {
  const char* path;
  const char* pattern;
};

TEST(OpenApi, AnswersAreAsTheDocumentSays) {
  service::FleetRowStore fleet;
  FillFleet(fleet, 100, 1'790'000'000'000);
  ASSERT_TRUE(fleet.AddRequest({.table = "lake/sales.orders", .action = "merge"}));
  ports::ManualClock clock(TimestampMs{0});
  Api api(fleet, fleet, clock, {});
  std::set<std::string> patterns;
  for (const Asked& asked :
       {Asked{"/api/v1/fleet", nullptr}, Asked{"/api/v1/tables", nullptr},
        Asked{"/api/v1/tables/lake%2Fsales.orders", "/api/v1/tables/{id}"},
        Asked{"/api/v1/tables/lake%2Fsales.orders/partitions", "/api/v1/tables/{id}/partitions"},
        Asked{"/api/v1/tables/lake%2Fsales.orders/analysis", "/api/v1/tables/{id}/analysis"},
        Asked{"/api/v1/tables/lake%2Fsales.orders/decisions", "/api/v1/tables/{id}/decisions"},
        Asked{"/api/v1/decisions", nullptr}, Asked{"/api/v1/queue", nullptr}, Asked{"/api/v1/jobs", nullptr},
        Asked{"/api/v1/jobs/j00000003", "/api/v1/jobs/{id}"}, Asked{"/api/v1/outcomes", nullptr},
        Asked{"/api/v1/policies", nullptr}, Asked{"/api/v1/settings", nullptr}, Asked{"/api/v1/requests", nullptr},
        Asked{"/api/v1/openapi.json", nullptr}, Asked{"/health", nullptr}, Asked{"/ready", nullptr}}) {
    const std::string pattern = asked.pattern != nullptr ? asked.pattern : asked.path;
    patterns.insert(pattern);
    const Response response = api.Handle({.method = "GET", .path = asked.path, .query = ""});
    ASSERT_EQ(response.status, 200) << asked.path;
    const json::Value& schema = *Document()
                                     .Find("paths")
                                     ->Find(pattern)
                                     ->Find("get")
                                     ->Find("responses")
                                     ->Find("200")
                                     ->Find("content")
                                     ->Find("application/json")
                                     ->Find("schema");
    const auto body = json::Parse(response.body);
    ASSERT_TRUE(body) << asked.path;
    EXPECT_EQ(Difference(*body, schema, asked.path), "");
    const json::Value* items = body->Find("items");
    EXPECT_TRUE(items == nullptr || !items->elements().empty()) << asked.path;
  }
  // All but those that are not JSON.
  for (const Route& route : AllRoutes()) {
    if (route.method != "GET" || Document().Find("paths")->Find(route.pattern) == nullptr) continue;
    if (route.pattern == "/metrics" || route.pattern == "/api/v1/stream") continue;
    EXPECT_TRUE(patterns.contains(route.pattern)) << route.pattern << " is not looked at above";
  }
  const Response error = api.Handle({.method = "GET", .path = "/api/v1/tables", .query = "limit=0"});
  EXPECT_EQ(
      Difference(*json::Parse(error.body), *Document().Find("components")->Find("schemas")->Find("Error"), "error"),
      "");
}

TEST(OpenApi, TheComparisonFindsDifferences) {
  const auto schema = json::Parse(
      R"({"type": "object", "required": ["a"], "properties": {"a": {"type": ["integer", "null"]}},
      "additionalProperties": false})");
  EXPECT_EQ(Difference(*json::Parse(R"({"a": 1})"), *schema, ""), "");
  for (const char* other : {"{}", R"({"a": "1"})", R"({"a": 1.5})", R"({"a": 1, "b": 2})", "[]"}) {
    EXPECT_NE(Difference(*json::Parse(other), *schema, ""), "") << other;
  }
}

}  // namespace
}  // namespace firn::api
