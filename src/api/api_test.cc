// SPDX-License-Identifier: Apache-2.0
#include "api/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "api/fleet_fixture.h"
#include "api/row_json.h"
#include "format/json/json.h"

namespace firn::api {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kNow = 1'790'000'000'000;

class ApiTest : public testing::Test {
 protected:
  explicit ApiTest(int tables = 120) { FillFleet(fleet_, tables, kNow); }

  void Restart(ApiOptions options) { api_ = std::make_unique<Api>(fleet_, fleet_, clock_, std::move(options)); }

  Response Send(Request request) {
    if (FindHeader(request.headers, "host") == nullptr) request.headers.emplace_back("host", "localhost:8642");
    if (request.client.empty()) request.client = "127.0.0.1";
    if (auto refusal = api_->Admit(request)) return *refusal;
    return api_->Handle(request);
  }
  Response Get(std::string path, Headers headers = {}) {
    const auto question = path.find('?');
    const std::string query = question == std::string::npos ? "" : path.substr(question + 1);
    return Send({.method = "GET", .path = path.substr(0, question), .query = query, .headers = std::move(headers)});
  }
  Response Post(std::string path, std::string body, Headers headers = {}) {
    const auto question = path.find('?');
    const std::string query = question == std::string::npos ? "" : path.substr(question + 1);
    if (FindHeader(headers, "content-type") == nullptr) headers.emplace_back("content-type", "application/json");
    return Send({.method = "POST",
                 .path = path.substr(0, question),
                 .query = query,
                 .headers = std::move(headers),
                 .body = std::move(body)});
  }
  static json::Value Body(const Response& response) {
    auto parsed = json::Parse(response.body);
    EXPECT_TRUE(parsed) << response.body;
    return parsed ? *parsed : json::Value();
  }

  service::FleetRowStore fleet_;
  ports::ManualClock clock_{TimestampMs{kNow}};
  std::unique_ptr<Api> api_ = std::make_unique<Api>(fleet_, fleet_, clock_, ApiOptions{});
};

TEST_F(ApiTest, WalkingThroughPagesShowsEachTableOnce) {
  std::set<std::string> ids;
  std::string after;
  int pages = 0;
  do {
    const Response response = Get("/api/v1/tables?limit=50&sort=files" + (after.empty() ? "" : "&after=" + after));
    ASSERT_EQ(response.status, 200) << response.body;
    const json::Value body = Body(response);
    for (const json::Value& item : body.Find("items")->elements()) ids.insert(*item.Find("id")->AsString());
    const std::string* next = body.Find("next")->AsString();
    after = next == nullptr ? "" : *next;
    for (std::size_t at = 0; (at = after.find('|', at)) != std::string::npos;) after.replace(at, 1, "%7C");
    ++pages;
  } while (!after.empty());
  EXPECT_EQ(ids.size(), 120U);
  EXPECT_EQ(pages, 3);
}

TEST_F(ApiTest, AMethodThatAPathDoesNotKnowIs405WhateverItsBody) {
  for (const char* method : {"DELETE", "OPTIONS", "PUT", "PATCH", "POST", "TRACE"}) {
    const Response response = Send({.method = method, .path = "/api/v1/tables"});
    EXPECT_EQ(response.status, 405) << method;
    ASSERT_NE(FindHeader(response.headers, "Allow"), nullptr);
    EXPECT_EQ(*FindHeader(response.headers, "Allow"), "GET");
    EXPECT_EQ(Send({.method = method, .path = "/api/v1/nothing"}).status, 404) << method;
  }
  EXPECT_EQ(Send({.method = "DELETE", .path = "/api/v1/pause"}).status, 405);
  EXPECT_EQ(Send({.method = "POST", .path = "/api/v1/pause"}).status, 415)
      << "a path that takes it has to know the type";
  Restart({.access = {.loopback = false}});
  EXPECT_EQ(Send({.method = "DELETE", .path = "/api/v1/tables"}).status, 403) << "a stranger learns nothing";
}

TEST_F(ApiTest, UnknownOrMalformedParametersAreErrorsThatNameThem) {
  for (const auto& [path, word] :
       std::vector<std::pair<std::string, std::string>>{{"/api/v1/tables?limt=5", "limt"},
                                                        {"/api/v1/tables?limit=0", "limit"},
                                                        {"/api/v1/tables?limit=501", "limit"},
                                                        {"/api/v1/tables?limit=5x", "limit"},
                                                        {"/api/v1/tables?limit=99999999999999", "limit"},
                                                        {"/api/v1/tables?limit=5&limit=6", "limit"},
                                                        {"/api/v1/tables?sort=best", "sort"},
                                                        {"/api/v1/tables?state=fine", "state"},
                                                        {"/api/v1/tables?after=nonsense", "after"},
                                                        {"/api/v1/tables?search=%zz", "escape"},
                                                        {"/api/v1/jobs?state=fine", "state"},
                                                        {"/api/v1/decisions?kind=zz", "kind"},
                                                        {"/api/v1/decisions?after=-1", "after"},
                                                        {"/api/v1/jobs?after=-1", "after"},
                                                        {"/api/v1/outcomes?after=-1", "after"},
                                                        {"/api/v1/requests?after=-1", "after"},
                                                        {"/api/v1/queue?after=-1", "after"},
                                                        {"/api/v1/fleet?x=1", "x"}}) {
    const Response response = Get(path);
    EXPECT_EQ(response.status, 400) << path;
    EXPECT_THAT(*Body(response).Find("error")->Find("message")->AsString(), HasSubstr(word));
  }
}

TEST_F(ApiTest, TablesAreNamedByTheirEncodedId) {
  EXPECT_EQ(Get("/api/v1/tables/lake%2Fsales.orders").status, 200);
  EXPECT_EQ(Get("/api/v1/tables/lake%2Fsales.orders/partitions").status, 200);
  EXPECT_EQ(Get("/api/v1/tables/lake%2Fnone").status, 404);
  EXPECT_EQ(Get("/api/v1/tables/lake/sales.orders").status, 404);
  EXPECT_EQ(Get("/api/v1/tables/%zz").status, 404);
  EXPECT_EQ(Get("/api/v1/jobs/none").status, 404);
}

TEST_F(ApiTest, RowsOfATableThatIsNotThereAreNotFound) {
  for (const char* path : {"/api/v1/decisions?table=zzz", "/api/v1/tables/zzz/decisions", "/api/v1/outcomes?table=zzz",
                           "/api/v1/jobs?table=zzz"}) {
    EXPECT_EQ(Get(path).status, 404) << path;
  }
  EXPECT_EQ(Get("/api/v1/jobs?table=lake%2Fsales.orders&state=failed").status, 200);
  EXPECT_EQ(Get("/api/v1/decisions?kind=refused").status, 200);
}

TEST_F(ApiTest, MethodsThatAPathDoesNotKnowAreRefused) {
  const Response response = Post("/api/v1/tables", "{}");
  EXPECT_EQ(response.status, 405);
  EXPECT_EQ(*FindHeader(response.headers, "Allow"), "GET");
  EXPECT_EQ(
      Send({.method = "DELETE", .path = "/api/v1/tables", .headers = {{"content-type", "application/json"}}}).status,
      405);
  EXPECT_EQ(Get("/nothing/here").status, 404);
}

TEST_F(ApiTest, WithATokenEverythingButHealthAndTheDashboardNeedsIt) {
  Restart({.access = {.loopback = true, .token = "right-token"}});
  for (const char* path : {"/api/v1/tables", "/metrics", "/api/v1/stream", "/api/v1/openapi.json", "/api/v1/none"}) {
    const Response response = Get(path);
    EXPECT_EQ(response.status, 401) << path;
    EXPECT_NE(FindHeader(response.headers, "WWW-Authenticate"), nullptr);
    EXPECT_THAT(response.body, Not(HasSubstr("right-token")));
  }
  for (const char* path : {"/health", "/ready", "/"}) EXPECT_EQ(Get(path).status, 200) << path;
  for (const char* value : {"Bearer wrong", "Bearer right-toke", "Bearer right-token2", "Bearer ", "Bearer",
                            "Basic right-token", "right-token", ""}) {
    EXPECT_EQ(Get("/api/v1/tables", {{"authorization", value}}).status, 401) << value;
    EXPECT_EQ(Post("/api/v1/pause", "", {{"authorization", value}}).status, 401) << value;
  }
  EXPECT_EQ(Get("/api/v1/tables", {{"authorization", "bearer right-token"}}).status, 200);
  EXPECT_EQ(Post("/api/v1/pause", "", {{"authorization", "Bearer right-token"}}).status, 200);
}

TEST_F(ApiTest, WithoutATokenOnlyLoopbackMayWrite) {
  Restart({.access = {.loopback = false}});
  EXPECT_EQ(Get("/api/v1/tables").status, 200);
  EXPECT_EQ(Post("/api/v1/pause", "").status, 403);
  EXPECT_EQ(Post("/api/v1/requests", R"({"table": "lake/sales.orders", "action": "merge"})").status, 403);
  EXPECT_EQ(Post("/api/v1/events", R"({"table": "a.b"})").status, 403);
  EXPECT_TRUE(fleet_.events().empty());
  EXPECT_FALSE(fleet_.Summary()->paused);
}

TEST_F(ApiTest, NamesThatWerePointedAtUsAreRefused) {
  Restart({.access = {.hosts = {"firn.example"}}});
  for (const char* host : {"localhost", "127.0.0.1:80", "[::1]:8642", "192.168.0.7", "Firn.Example:443"}) {
    EXPECT_EQ(Get("/api/v1/tables", {{"host", host}}).status, 200) << host;
  }
  for (const char* host : {"evil.example", "localhost.evil.example", "", "[::1", "127.0.0.1.evil.example"}) {
    EXPECT_EQ(Get("/api/v1/tables", {{"host", host}}).status, 421) << host;
    EXPECT_EQ(Get("/", {{"host", host}}).status, 421) << host;
  }
}

TEST_F(ApiTest, PagesOfOtherSitesMayNotWrite) {
  const std::string body = R"({"table": "lake/sales.orders", "action": "merge"})";
  for (const Headers& headers : std::vector<Headers>{{{"origin", "https://evil.example"}},
                                                     {{"origin", "null"}},
                                                     {{"origin", "http://localhost:9999"}},
                                                     {{"sec-fetch-site", "cross-site"}},
                                                     {{"sec-fetch-site", "same-site"}}}) {
    EXPECT_EQ(Post("/api/v1/requests", body, headers).status, 403);
  }
  for (const char* type : {"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""}) {
    EXPECT_EQ(Post("/api/v1/requests", body, {{"content-type", type}}).status, 415) << type;
  }
  EXPECT_TRUE(fleet_.Requests({})->items.empty());
  EXPECT_EQ(
      Post("/api/v1/requests", body, {{"origin", "http://localhost:8642"}, {"sec-fetch-site", "same-origin"}}).status,
      202);
  EXPECT_EQ(fleet_.Requests({})->items.size(), 1U);
}

TEST_F(ApiTest, RequestsAreReadStrictly) {
  for (const char* body : {"", "[]", "{", "{\"table\": \"lake/sales.orders\"}", "{\"action\": \"merge\"}",
                           R"({"table": "lake/sales.orders", "action": "melt"})",
                           R"({"table": "lake/sales.orders", "action": "merge", "prio": 1})",
                           R"({"table": "lake/sales.orders", "action": "merge", "action": "fold"})",
                           R"({"table": "lake/sales.orders", "action": "merge", "priority": -1})",
                           R"({"table": "lake/sales.orders", "action": "merge", "priority": 1e300})",
                           R"({"table": "lake/sales.orders", "action": "merge", "deadline_ms": "soon"})",
                           R"({"table": "lake/sales.orders", "action": "merge", "partitions": "all"})",
                           R"({"table": "lake/sales.orders", "action": "merge", "partitions": [1]})",
                           R"({"table": 5, "action": "merge"})"}) {
    EXPECT_EQ(Post("/api/v1/requests", body).status, 400) << body;
  }
  EXPECT_EQ(Post("/api/v1/requests", R"({"table": "lake/none", "action": "merge"})").status, 404);
  EXPECT_TRUE(fleet_.Requests({})->items.empty());
  const Response response =
      Post("/api/v1/requests",
           R"({"table": "lake/sales.orders", "action": "fold", "priority": 7.5, "deadline_ms": 1790000100000,
      "partitions": ["day=2026-01-01"]})");
  ASSERT_EQ(response.status, 202) << response.body;
  const auto stored = fleet_.Requests({})->items.at(0);
  EXPECT_EQ(*Body(response).Find("id")->AsString(), stored.id);
  EXPECT_EQ(Body(response).Find("shadow")->AsBool(), false);
  EXPECT_EQ(stored.request.action, "fold");
  EXPECT_EQ(stored.request.priority, 7.5);
  EXPECT_EQ(stored.request.deadline_ms, 1790000100000);
  EXPECT_EQ(stored.request.partitions.at(0), "day=2026-01-01");
}

TEST_F(ApiTest, PauseAndResumeOneTableOrEverything) {
  EXPECT_EQ(Post("/api/v1/tables/lake%2Fsales.orders/pause", "").status, 200);
  EXPECT_EQ(fleet_.Table("lake/sales.orders")->row.state, service::TableRow::State::kPaused);
  EXPECT_EQ(Post("/api/v1/resume", R"({"table": "lake/sales.orders"})").status, 200);
  EXPECT_EQ(fleet_.Table("lake/sales.orders")->row.state, service::TableRow::State::kOk);
  EXPECT_EQ(Post("/api/v1/pause", "{}").status, 200);
  EXPECT_TRUE(fleet_.Summary()->paused);
  EXPECT_EQ(Post("/api/v1/resume", R"({"tabel": "x"})").status, 400) << "a misspelt name must not mean everything";
  EXPECT_EQ(Post("/api/v1/resume", R"({"table": ""})").status, 400);
  EXPECT_TRUE(fleet_.Summary()->paused);
  EXPECT_EQ(Post("/api/v1/resume", "").status, 200);
  EXPECT_FALSE(fleet_.Summary()->paused);
  EXPECT_EQ(Post("/api/v1/pause", R"({"table": "lake/none"})").status, 404);
}

TEST_F(ApiTest, EventsOfEachKindArrive) {
  const std::string report =
      R"({"report-type": "commit-report", "table-name": "x", "snapshot-id": 7, "sequence-number": 1,
      "operation": "append", "metrics": {}})";
  EXPECT_EQ(Post("/v1/lake/namespaces/a%1Fb/tables/t/metrics", report).status, 204);
  EXPECT_EQ(Post("/v1/namespaces/a/tables/t/metrics?catalog=lake", report).status, 204);
  EXPECT_EQ(Post("/api/v1/events", R"({"catalog": "lake", "table": "a.b.t"})").status, 202);
  EXPECT_EQ(Post("/api/v1/events/s3",
                 R"({"Records": [{"eventName": "ObjectCreated:Put", "s3": {"bucket": {"name": "b"},
      "object": {"key": "w/t/metadata/1.metadata.json"}}}]})")
                .status,
            202);
  EXPECT_EQ(Post("/api/v1/events/cloudevents?catalog=lake",
                 R"({"specversion": "1.0", "id": "1", "source": "s", "type": "updateTable", "name": "t",
      "namespace": "a", "data": null})",
                 {{"content-type", "application/cloudevents+json; charset=utf-8"}})
                .status,
            202);
  const auto events = fleet_.events();
  ASSERT_EQ(events.size(), 5U);
  EXPECT_EQ(ports::TableText(events[0]), "lake/a.b.t");
  EXPECT_EQ(ports::TableText(events[1]), "lake/a.t");
  EXPECT_EQ(ports::TableText(events[2]), "lake/a.b.t");
  EXPECT_EQ(ports::TableText(events[3]), "s3://b/w/t");
  EXPECT_EQ(ports::TableText(events[4]), "lake/a.t");
  EXPECT_EQ(Post("/api/v1/events", "{}").status, 400);
  EXPECT_EQ(fleet_.events().size(), 5U);
}

TEST_F(ApiTest, EventsOfCatalogsThatAreNotServed_AreIgnored_UnlessTheyTellTheLocation) {
  const std::string mixed = R"([{"catalog": "nope", "table": "a.t"}, {"catalog": "lake", "table": "a.t"},
      {"catalog": "lak", "table": "a.t"}])";
  EXPECT_EQ(Post("/api/v1/events", mixed).body, R"({"accepted":1,"ignored":2,"displaced":0})");
  ASSERT_EQ(fleet_.events().size(), 1U);
  EXPECT_EQ(fleet_.events()[0].catalog, "lake");
  EXPECT_EQ(Post("/api/v1/events", R"({"catalog": "nope", "location": "s3://b/w/t"})").body,
            R"({"accepted":1,"ignored":0,"displaced":0})");
}

TEST_F(ApiTest, AFloodIsRefusedAndOthersStillGetThrough) {
  Restart(
      {.event_rate_each = {.per_second = 10, .burst = 20}, .event_rate_all = {.per_second = 1'000, .burst = 1'000}});
  int refused = 0;
  for (int i = 0; i < 100; ++i) refused += Post("/api/v1/events", R"({"table": "a.b"})").status == 429 ? 1 : 0;
  EXPECT_EQ(refused, 80);
  EXPECT_EQ(fleet_.events().size(), 20U);
  EXPECT_EQ(Send({.method = "POST",
                  .path = "/api/v1/events",
                  .headers = {{"content-type", "application/json"}},
                  .body = R"({"table": "a.b"})",
                  .client = "10.0.0.2"})
                .status,
            202);
  EXPECT_EQ(Get("/api/v1/tables").status, 200) << "reading is not limited by it";
  clock_.SleepMs(1'000);
  EXPECT_EQ(Post("/api/v1/events", R"({"table": "a.b"})").status, 202);
}

TEST_F(ApiTest, SecretsAreNotShown) {
  std::string all;
  for (const char* path :
       {"/api/v1/settings", "/api/v1/policies", "/metrics", "/api/v1/fleet", "/api/v1/tables/lake%2Fsales.orders"}) {
    const Response response = Get(path);
    ASSERT_EQ(response.status, 200);
    all += response.body;
  }
  EXPECT_THAT(all, Not(HasSubstr("s3cret-token-of-the-fixture")));
  EXPECT_THAT(all, Not(HasSubstr("pass-of-the-fixture")));
  EXPECT_THAT(all, HasSubstr("https://catalog.example/api"));
  EXPECT_THAT(all, HasSubstr("(hidden)"));
}

TEST_F(ApiTest, WhenTheStateCannotBeReadTheAnswerSaysSo) {
  fleet_.FailWith(Error{Code::kUnavailable, "the state is locked"});
  for (const char* path : {"/api/v1/fleet", "/api/v1/tables", "/api/v1/queue", "/metrics", "/api/v1/policies"}) {
    const Response response = Get(path);
    EXPECT_EQ(response.status, 503) << path;
    EXPECT_THAT(response.body, HasSubstr("the state is locked"));
  }
  EXPECT_EQ(Get("/health").status, 200);
  fleet_.PutReadiness({.ready = false, .reason = "tables are being loaded"});
  const Response ready = Get("/ready");
  EXPECT_EQ(ready.status, 503);
  EXPECT_THAT(ready.body, HasSubstr("being loaded"));
}

TEST_F(ApiTest, MetricsAreInPrometheusText) {
  const Response response = Get("/metrics");
  EXPECT_THAT(response.content_type, HasSubstr("version=0.0.4"));
  EXPECT_THAT(response.body, HasSubstr("\nfirn_tables 120\n"));
  EXPECT_THAT(response.body, HasSubstr("firn_jobs_ended_total{state=\"failed\"} 7\n"));
  EXPECT_EQ(response.body.find("# TYPE firn_jobs_ended_total"), response.body.rfind("# TYPE firn_jobs_ended_total"));
}

TEST_F(ApiTest, FilesOfTheDashboardAreCachedByTheirTag) {
  const Response first = Get("/");
  ASSERT_EQ(first.status, 200);
  EXPECT_THAT(first.body, HasSubstr("<html"));
  EXPECT_THAT(*FindHeader(first.headers, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
  EXPECT_EQ(*FindHeader(first.headers, "X-Content-Type-Options"), "nosniff");
  const std::string tag = *FindHeader(first.headers, "ETag");
  EXPECT_EQ(Get("/", {{"if-none-match", tag}}).status, 304);
  EXPECT_EQ(Get("/", {{"if-none-match", "\"other\""}}).status, 200);
  const Response compressed = Get("/", {{"accept-encoding", "gzip, br"}});
  EXPECT_EQ(*FindHeader(compressed.headers, "Content-Encoding"), "gzip");
  EXPECT_LT(compressed.body.size(), first.body.size());
  EXPECT_NE(*FindHeader(compressed.headers, "ETag"), tag);
}

TEST(ShownValue, HidesSecretsAndUserNames) {
  EXPECT_EQ(ShownValue("catalog.lake.token", "x"), "(hidden)");
  EXPECT_EQ(ShownValue("s3.secret-access-key", "x"), "(hidden)");
  EXPECT_EQ(ShownValue("adls.connection-string", "AccountName=a;AccountKey=k"), "(hidden)");
  EXPECT_EQ(ShownValue("header.Cookie", "x"), "(hidden)");
  EXPECT_EQ(ShownValue("firn.serve.token-file", "/run/token"), "/run/token");
  EXPECT_EQ(ShownValue("credential", ""), "");
  EXPECT_EQ(ShownValue("uri", "postgresql://u:p@h/db"), "postgresql://h/db");
  EXPECT_EQ(ShownValue("uri", "jdbc:postgresql://h/db?password=p"), "jdbc:postgresql://h/db?password=***");
  EXPECT_EQ(ShownValue("uri", "https://h/p?x=a@b"), "https://h/p?x=a@b");
}

}  // namespace
}  // namespace firn::api
