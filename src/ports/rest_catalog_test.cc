// SPDX-License-Identifier: Apache-2.0
#include "ports/rest_catalog.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ports/memory_file_io.h"

namespace firn::ports {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string MetadataText(const std::string& properties = "{}") {
  return R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001","location":"s3://b/db/t",)"
         R"("last-sequence-number":0,"last-updated-ms":1,"last-column-id":1,"current-schema-id":0,"schemas":[)"
         R"({"type":"struct","schema-id":0,"fields":[{"id":1,"name":"id","required":false,"type":"long"}]}],)"
         R"("default-spec-id":0,"partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
         R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],"snapshots":[],"properties":)" +
         properties + "}";
}

std::string TableText(const std::string& more = "") {
  return R"({"metadata-location":"s3://b/db/t/metadata/00001-x.metadata.json","metadata":)" + MetadataText() + more +
         "}";
}

HttpResponse Json(int status, const std::string& body) {
  return {status, {{"content-type", "application/json"}}, body};
}

std::string Header(const HttpRequest& request, const std::string& name) {
  std::string value = "(none)";
  for (const auto& [key, text] : request.headers) {
    if (key == name) value = text;
  }
  return value;
}

class RestCatalogTest : public testing::Test {
 protected:
  /// Answers config, everything else by `answer`.
  Result<std::shared_ptr<Catalog>> Open(MemoryHttp::Handler answer, Properties properties = {},
                                        const std::string& config = "{}") {
    properties.insert({"uri", "http://host/api/"});
    http_ = std::make_shared<MemoryHttp>([answer, config](const HttpRequest& request) -> Result<HttpResponse> {
      if (request.url.find("/v1/config") != std::string::npos) return Json(200, config);
      return answer(request);
    });
    const FileIOFactory make_io = [this](const Properties& given) -> Result<std::shared_ptr<FileIO>> {
      io_properties_.push_back(given);
      return std::shared_ptr<FileIO>(std::make_shared<MemoryFileIO>());
    };
    return RestCatalog::Open("rest", properties, http_, make_io, clock_, 5);
  }
  /// A loaded table and a catalog whose commits get `answer`.
  LoadedTable Load(MemoryHttp::Handler answer, Properties properties = {}, const std::string& config = "{}") {
    catalog_ = Open(
                   [answer](const HttpRequest& request) -> Result<HttpResponse> {
                     return request.method == "GET" ? Json(200, TableText()) : answer(request);
                   },
                   std::move(properties), config)
                   .value();
    return catalog_->LoadTable(id_).value();
  }
  static TableCommit Commit() {
    return {{iceberg::AssertRefSnapshotId{"main", std::nullopt}}, {iceberg::SetProperties{{{"a", "1"}}}}};
  }
  HttpRequest Last() { return http_->requests().back(); }

  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::shared_ptr<MemoryHttp> http_;
  std::shared_ptr<Catalog> catalog_;
  std::vector<Properties> io_properties_;
  const TableIdentifier id_{{"db"}, "t"};
};

TEST_F(RestCatalogTest, Open_Config_DefaultsBelowAndOverridesAbove) {
  const auto catalog = Open([](const HttpRequest&) { return Json(200, TableText()); },
                            {{"warehouse", "s3://wh/a b"}, {"header.X-Tenant", "7"}, {"color", "mine"}},
                            R"({"defaults":{"color":"server","size":"1"},"overrides":{"prefix":"p/q","size":"2",)"
                            R"("uri":"https://other"}})");
  ASSERT_TRUE(catalog) << ToString(catalog.error());
  ASSERT_TRUE((*catalog)->LoadTable(id_));
  const auto requests = http_->requests();
  EXPECT_EQ(requests[0].url, "http://host/api/v1/config?warehouse=s3%3A%2F%2Fwh%2Fa%20b");
  EXPECT_EQ(requests[1].url, "https://other/v1/p/q/namespaces/db/tables/t?snapshots=all");
  EXPECT_EQ(Header(requests[1], "X-Tenant"), "7");
  EXPECT_EQ(Header(requests[1], "X-Iceberg-Access-Delegation"), "vended-credentials");
  ASSERT_TRUE((*catalog)->TableIO((*catalog)->LoadTable(id_).value()));
  EXPECT_EQ(PropertyOr(io_properties_[0], "color", ""), "mine");
  EXPECT_EQ(PropertyOr(io_properties_[0], "size", ""), "2");
}

TEST_F(RestCatalogTest, Open_Failures_AreClean) {
  const std::tuple<HttpResponse, Code> cases[] = {
      {Json(404, R"({"error":{"message":"Warehouse not found","type":"NoSuchWarehouseException","code":404}})"),
       Code::kNotFound},
      {Json(401, ""), Code::kInvalidArgument},
      {Json(503, ""), Code::kUnavailable},
      {Json(200, "not json"), Code::kCorrupt},
      {Json(200, "[]"), Code::kCorrupt},
      {Json(200, R"({"overrides":{"namespace-separator":""}})"), Code::kInvalidArgument},
  };
  for (const auto& [response, code] : cases) {
    auto http = std::make_shared<MemoryHttp>([&](const HttpRequest&) { return response; });
    const auto catalog =
        RestCatalog::Open("rest", {{"uri", "http://user:hunter2@host"}}, http, StandardFileIO(), clock_, 1);
    ASSERT_FALSE(catalog);
    EXPECT_EQ(catalog.error().code, code) << ToString(catalog.error());
    EXPECT_THAT(catalog.error().message, Not(HasSubstr("hunter2")));
  }
  const auto wrong = RestCatalog::Open("rest", {{"uri", "ftp://x"}}, nullptr, StandardFileIO(), clock_, 1);
  EXPECT_EQ(wrong.error().code, Code::kInvalidArgument);
  const auto signs = RestCatalog::Open("rest", {{"uri", "http://x"}, {"rest.sigv4-enabled", "true"}}, nullptr,
                                       StandardFileIO(), clock_, 1);
  EXPECT_EQ(signs.error().code, Code::kInvalidArgument) << "there are no keys";
}

TEST_F(RestCatalogTest, Signs_EveryRequest_AlsoWhenTheServerAsksForIt) {
  const Properties keys = {{"rest.access-key-id", "AK"}, {"rest.secret-access-key", "hunter2"}, {"token", "t"}};
  const Properties signing = {{"rest.sigv4-enabled", "true"}, {"rest.signing-region", "eu-west-1"}};
  const LoadedTable base = Load([](const HttpRequest&) { return Json(200, TableText()); }, Merged(keys, signing));
  ASSERT_TRUE(catalog_->CommitTable(base, Commit()));
  ASSERT_EQ(http_->requests().size(), 3U) << "config, load, commit";
  for (const HttpRequest& request : http_->requests()) {
    EXPECT_THAT(Header(request, "Authorization"),
                testing::StartsWith("AWS4-HMAC-SHA256 Credential=AK/20231114/eu-west-1/execute-api/aws4_request, "));
    EXPECT_EQ(Header(request, "Original-Authorization"), "Bearer t");
    EXPECT_EQ(Header(request, "Host"), "host");
  }
  Load([](const HttpRequest&) { return Json(200, TableText()); }, keys,
       R"({"overrides":{"rest.sigv4-enabled":"true","rest.signing-region":"r","rest.signing-name":"s3tables"}})");
  EXPECT_THAT(Header(http_->requests().front(), "Authorization"), "Bearer t");
  EXPECT_THAT(Header(Last(), "Authorization"), HasSubstr("/r/s3tables/aws4_request"));
}

TEST_F(RestCatalogTest, LoadTable_Names_AreEncodedWithTheSeparator) {
  const auto answer = [](const HttpRequest&) { return Json(200, TableText()); };
  ASSERT_TRUE(Open(answer).value()->LoadTable({{"a b", "c/d", "é"}, "t%1"}));
  EXPECT_EQ(Last().url, "http://host/api/v1/namespaces/a%20b%1Fc%2Fd%1F%C3%A9/tables/t%251?snapshots=all");
  ASSERT_TRUE(Open(answer, {}, R"({"overrides":{"namespace-separator":"%2E"}})").value()->LoadTable({{"a", "b"}, "t"}));
  EXPECT_EQ(Last().url, "http://host/api/v1/namespaces/a.b/tables/t?snapshots=all");
}

TEST_F(RestCatalogTest, LoadTable_Failures_HaveTheRightCode) {
  const std::tuple<Result<HttpResponse>, Code> cases[] = {
      {Json(404, R"({"error":{"message":"Table does not exist: db.t","type":"NoSuchTableException","code":404}})"),
       Code::kNotFound},
      {Json(500, "<html>"), Code::kUnavailable},
      {Json(429, ""), Code::kUnavailable},
      {Json(403, ""), Code::kInvalidArgument},
      {Json(200, TableText().substr(0, 300)), Code::kCorrupt},
      {Json(200, "{}"), Code::kCorrupt},
      {Json(200, R"({"metadata":{"format-version":9}})"), Code::kUnsupported},
      {Error{Code::kOutcomeUnknown, "reset"}, Code::kUnavailable},
      {Error{Code::kUnavailable, "refused"}, Code::kUnavailable},
      {Error{Code::kLimit, "large"}, Code::kLimit},
  };
  for (const auto& [response, code] : cases) {
    const auto table = Open([&](const HttpRequest&) { return response; }).value()->LoadTable(id_);
    ASSERT_FALSE(table);
    EXPECT_EQ(table.error().code, code) << ToString(table.error());
    EXPECT_THAT(table.error().message, HasSubstr("db.t"));
  }
  EXPECT_EQ(Open([](const HttpRequest&) { return Json(200, ""); }).value()->LoadTable({{}, "t"}).error().code,
            Code::kInvalidArgument);
}

TEST_F(RestCatalogTest, CommitTable_Request_CarriesRequirementsAndUpdates) {
  const LoadedTable base = Load([](const HttpRequest&) { return Json(200, TableText()); });
  ASSERT_TRUE(catalog_->CommitTable(base, Commit()));
  EXPECT_EQ(Last().method, "POST");
  EXPECT_EQ(Last().url, "http://host/api/v1/namespaces/db/tables/t");
  EXPECT_EQ(Header(Last(), "Idempotency-Key"), "(none)");
  const auto body = json::Parse(Last().body);
  ASSERT_TRUE(body);
  EXPECT_EQ(json::Write(*body->Find("identifier")), R"({"namespace":["db"],"name":"t"})");
  EXPECT_EQ(json::Write(body->Find("requirements")->elements().at(0)),
            R"({"type":"assert-table-uuid","uuid":"00000000-0000-4000-8000-000000000001"})");
  EXPECT_EQ(body->Find("requirements")->elements().size(), 2U);
  EXPECT_EQ(body->Find("updates")->elements().size(), 1U);
}

TEST_F(RestCatalogTest, CommitTable_OwnUuidRequirement_IsNotDoubled) {
  const LoadedTable base = Load([](const HttpRequest&) { return Json(200, TableText()); });
  TableCommit commit = Commit();
  commit.requirements.push_back(iceberg::AssertTableUuid{base.metadata->table_uuid()});
  ASSERT_TRUE(catalog_->CommitTable(base, commit));
  EXPECT_EQ(json::Parse(Last().body)->Find("requirements")->elements().size(), 2U);
}

TEST_F(RestCatalogTest, CommitTable_Answers_DecideWhatIsKnown) {
  const std::string error = R"({"error":{"message":"why it failed","type":"SomeException","code":1}})";
  std::vector<std::tuple<Result<HttpResponse>, Code>> cases = {
      {Json(200, TableText().substr(0, 200)), Code::kOutcomeUnknown},
      {Json(200, ""), Code::kOutcomeUnknown},
      {Json(200, "{}"), Code::kOutcomeUnknown},
      {Json(200, "null"), Code::kOutcomeUnknown},
      {Json(200, R"({"metadata":{"format-version":9}})"), Code::kOutcomeUnknown},
      {Json(204, ""), Code::kOutcomeUnknown},
      {Json(302, ""), Code::kOutcomeUnknown},
      {Json(303, ""), Code::kOutcomeUnknown},
      {Error{Code::kOutcomeUnknown, "reset"}, Code::kOutcomeUnknown},
      {Error{Code::kLimit, "large"}, Code::kOutcomeUnknown},
      {Error{Code::kUnavailable, "refused"}, Code::kUnavailable},
  };
  for (const int status : {408, 500, 502, 503, 504, 507, 520, 599})
    cases.emplace_back(Json(status, error), Code::kOutcomeUnknown);
  for (const int status : {307, 308, 400, 401, 403, 418, 419, 422})
    cases.emplace_back(Json(status, error), Code::kInvalidArgument);
  for (const int status : {405, 406, 501}) cases.emplace_back(Json(status, error), Code::kUnsupported);
  cases.emplace_back(Json(404, error), Code::kNotFound);
  cases.emplace_back(Json(409, error), Code::kConflict);
  cases.emplace_back(Json(429, error), Code::kUnavailable);
  for (const auto& [response, code] : cases) {
    const LoadedTable base = Load([&](const HttpRequest&) { return response; });
    const auto committed = catalog_->CommitTable(base, Commit());
    ASSERT_FALSE(committed);
    EXPECT_EQ(committed.error().code, code) << ToString(committed.error());
    EXPECT_EQ(http_->requests().size(), 3U) << "config, load, and one commit";
    if (response && response->body == error) {
      EXPECT_THAT(committed.error().message, HasSubstr("SomeException: why it failed"));
    }
  }
}

TEST_F(RestCatalogTest, CommitTable_ErrorText_IsOneShortLine) {
  const LoadedTable base = Load([](const HttpRequest&) {
    return HttpResponse{503, {{"retry-after", "7"}}, "<html>\r\n\x1b[31m" + std::string(10'000, 'x')};
  });
  const auto committed = catalog_->CommitTable(base, Commit());
  EXPECT_LT(committed.error().message.size(), 700U);
  EXPECT_EQ(committed.error().message.find_first_of("\r\n\x1b"), std::string::npos);
  EXPECT_THAT(committed.error().message, HasSubstr("Retry-After: 7"));
}

TEST_F(RestCatalogTest, CommitTable_IdempotencyKey_WhenTheServerKnowsIt) {
  const LoadedTable base =
      Load([](const HttpRequest&) { return Json(200, TableText()); }, {}, R"({"idempotency-key-lifetime":"PT30M"})");
  ASSERT_TRUE(catalog_->CommitTable(base, Commit()));
  const std::string first = Header(Last(), "Idempotency-Key");
  EXPECT_THAT(first, testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  ASSERT_TRUE(catalog_->CommitTable(base, Commit()));
  EXPECT_NE(Header(Last(), "Idempotency-Key"), first) << "another commit, another key";
}

TEST_F(RestCatalogTest, Token_IsFetchedRefreshedAndUsedOnce) {
  int tokens = 0;
  bool expired = false;
  const auto answer = [&](const HttpRequest& request) -> Result<HttpResponse> {
    if (request.url == "http://auth/token") {
      ++tokens;
      return Json(200, fmt::format(R"({{"access_token":"t{}","token_type":"bearer","expires_in":3600}})", tokens));
    }
    if (expired && Header(request, "Authorization") == "Bearer t1") return Json(401, "");
    return Json(200, TableText());
  };
  const auto catalog = Open(answer, {{"credential", "id:se:cret"},
                                     {"oauth2-server-uri", "http://auth/token"},
                                     {"scope", "a b"},
                                     {"audience", "x"}})
                           .value();
  EXPECT_EQ(http_->requests()[0].body,
            "grant_type=client_credentials&client_id=id&client_secret=se%3Acret&scope=a%20b&audience=x");
  const LoadedTable base = catalog->LoadTable(id_).value();
  EXPECT_EQ(Header(Last(), "Authorization"), "Bearer t1");
  expired = true;
  ASSERT_TRUE(catalog->CommitTable(base, Commit()));
  EXPECT_EQ(Header(Last(), "Authorization"), "Bearer t2");
  EXPECT_EQ(tokens, 2);
  clock_.SleepMs(3'600'000);
  ASSERT_TRUE(catalog->LoadTable(id_));
  EXPECT_EQ(tokens, 3) << "replaced before the server refuses it";
}

TEST_F(RestCatalogTest, Token_RefusedTwice_IsACleanFailure) {
  const auto answer = [](const HttpRequest& request) -> Result<HttpResponse> {
    if (request.url.ends_with("/v1/oauth/tokens")) return Json(200, R"({"access_token":"t"})");
    return request.method == "GET" ? Json(200, TableText()) : Json(419, "");
  };
  const auto catalog = Open(answer, {{"credential", "secret"}}).value();
  const LoadedTable base = catalog->LoadTable(id_).value();
  const std::size_t before = http_->requests().size();
  const auto committed = catalog->CommitTable(base, Commit());
  ASSERT_FALSE(committed);
  EXPECT_EQ(committed.error().code, Code::kInvalidArgument);
  EXPECT_EQ(http_->requests().size(), before + 3) << "commit, token, commit";
}

TEST_F(RestCatalogTest, Token_ServerRefuses_ErrorWithoutTheSecret) {
  const std::tuple<Result<HttpResponse>, Code> cases[] = {
      {Json(401, R"({"error":"invalid_client","error_description":"Credentials invalid"})"), Code::kInvalidArgument},
      {Json(500, "x"), Code::kUnavailable},
      {Json(200, "{}"), Code::kUnavailable},
      {Error{Code::kOutcomeUnknown, "reset"}, Code::kUnavailable},
  };
  for (const auto& [response, code] : cases) {
    const auto catalog = Open([&](const HttpRequest&) { return response; }, {{"credential", "id:hunter2"}});
    ASSERT_FALSE(catalog);
    EXPECT_EQ(catalog.error().code, code) << ToString(catalog.error());
    EXPECT_THAT(catalog.error().message, Not(HasSubstr("hunter2")));
    EXPECT_THAT(catalog.error().message, HasSubstr("OAuth2"));
  }
}

TEST_F(RestCatalogTest, Authorization_Kinds) {
  const auto answer = [](const HttpRequest&) { return Json(200, TableText()); };
  const auto header = [&](Properties properties) {
    EXPECT_TRUE(Open(answer, std::move(properties)));
    return Header(Last(), "Authorization");
  };
  EXPECT_EQ(header({}), "(none)");
  EXPECT_EQ(header({{"token", "abc"}}), "Bearer abc");
  EXPECT_EQ(header({{"auth.type", "noop"}, {"token", "abc"}}), "(none)");
  EXPECT_EQ(
      header({{"auth.type", "basic"}, {"auth.basic.username", "Aladdin"}, {"auth.basic.password", "open sesame"}}),
      "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
  EXPECT_EQ(Open(answer, {{"auth.type", "google"}}).error().code, Code::kUnsupported);
  EXPECT_EQ(Open(answer, {{"auth.type", "basic"}}).error().code, Code::kInvalidArgument);
}

TEST_F(RestCatalogTest, TableConfig_TokenAndCredentials_AreUsedForThatTable) {
  const std::string more =
      R"(,"config":{"token":"table-token","s3.region":"r1","s3.access-key-id":"from-config"},"storage-credentials":[)"
      R"({"prefix":"s3://b","config":{"s3.access-key-id":"short"}},)"
      R"({"prefix":"s3://b/db/","config":{"s3.access-key-id":"long","s3.secret-access-key":"s"}},)"
      R"({"prefix":"s3://c","config":{"s3.access-key-id":"other"}}])";
  const auto catalog = Open([&](const HttpRequest&) { return Json(200, TableText(more)); },
                            {{"token", "session"}, {"s3.session-token", "stale"}, {"s3.endpoint", "http://e"}})
                           .value();
  const LoadedTable table = catalog->LoadTable(id_).value();
  EXPECT_EQ(Header(Last(), "Authorization"), "Bearer session");
  ASSERT_TRUE(catalog->CommitTable(table, Commit()));
  EXPECT_EQ(Header(Last(), "Authorization"), "Bearer table-token");
  const auto io = catalog->TableIO(table).value();
  EXPECT_EQ(catalog->TableIO(table).value(), io) << "kept for the same configuration";
  ASSERT_EQ(io_properties_.size(), 1U);
  EXPECT_EQ(PropertyOr(io_properties_[0], "s3.access-key-id", ""), "long");
  EXPECT_EQ(PropertyOr(io_properties_[0], "s3.region", ""), "r1");
  EXPECT_EQ(PropertyOr(io_properties_[0], "s3.endpoint", ""), "http://e");
  EXPECT_EQ(FindProperty(io_properties_[0], "s3.session-token"), nullptr) << "belongs to other keys";
}

TEST_F(RestCatalogTest, ListTables_PagesAndNestedNamespaces) {
  const auto answer = [](const HttpRequest& request) -> Result<HttpResponse> {
    const std::string path = request.url.substr(std::string("http://host/api/v1/").size());
    const std::map<std::string, std::string> answers = {
        {"namespaces?pageToken=", R"({"namespaces":[["a"]],"next-page-token":"p 2"})"},
        {"namespaces?pageToken=p%202", R"({"namespaces":[["b"]],"next-page-token":null})"},
        {"namespaces?parent=a&pageToken=", R"({"namespaces":[["a","c"]]})"},
        {"namespaces?parent=a%1Fc&pageToken=", R"({"namespaces":[]})"},
        // A server that does not know `parent`.
        {"namespaces?parent=b&pageToken=", R"({"namespaces":[["a"],["b"]]})"},
        {"namespaces/a/tables?pageToken=",
         R"({"identifiers":[{"namespace":["a"],"name":"t1"}],"next-page-token":"x"})"},
        {"namespaces/a/tables?pageToken=x", R"({"identifiers":[{"namespace":["a"],"name":"t2"}]})"},
        {"namespaces/a%1Fc/tables?pageToken=", R"({"identifiers":[{"namespace":["a","c"],"name":"t3"}]})"},
        {"namespaces/b/tables?pageToken=", R"({"identifiers":[]})"}};
    const auto found = answers.find(path);
    return found == answers.end() ? Json(404, path) : Json(200, found->second);
  };
  const auto tables = Open(answer).value()->ListTables();
  ASSERT_TRUE(tables) << ToString(tables.error());
  std::vector<std::string> names;
  for (const auto& id : *tables) names.push_back(ToString(id));
  EXPECT_THAT(names, testing::UnorderedElementsAre("a.t1", "a.t2", "a.c.t3"));
}

TEST_F(RestCatalogTest, ListTables_SamePageForEver_Ends) {
  const auto tables =
      Open([](const HttpRequest&) { return Json(200, R"({"namespaces":[["a"]],"next-page-token":"p"})"); })
          .value()
          ->ListTables();
  ASSERT_FALSE(tables);
  EXPECT_EQ(tables.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace firn::ports
