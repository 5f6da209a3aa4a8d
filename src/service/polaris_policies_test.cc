// SPDX-License-Identifier: Apache-2.0
#include "service/polaris_policies.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::service {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

PolarisPolicy Compaction(std::string content, bool inherited = false, std::vector<std::string> name_space = {"db"}) {
  return {.type = std::string(kPolarisDataCompaction),
          .name = "c" + std::to_string(name_space.size()),
          .content = std::move(content),
          .inherited = inherited,
          .name_space = std::move(name_space)};
}

std::map<std::string, std::string> Texts(const PolicyValues& values) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : values) texts[key] = value.text;
  return texts;
}

TEST(PolarisValues, TheExampleOfTheSchema) {
  const auto values = PolarisValues({Compaction(
      R"({"version":"2025-02-03","enable":true,"target_file_size_bytes":134217728,"config":{"compaction_strategy":)"
      R"("bin-pack","max-concurrent-file-group-rewrites":5,"my-key":"my-value","firn.priority":3}})")});
  ASSERT_TRUE(values.has_value()) << values.error().message;
  EXPECT_THAT(Texts(*values), UnorderedElementsAre(Pair("enabled", "true"), Pair("priority", "3"),
                                                   Pair("target-file-size-bytes", "134217728")));
  EXPECT_EQ(values->at("enabled").place, "Polaris policy `c1`");
}

TEST(PolarisValues, TheSizeMayStandInTheConfig) {
  const auto values = PolarisValues({Compaction(R"({"enable":false,"config":{"target_file_size_bytes":1048576}})")});
  EXPECT_THAT(Texts(values.value()),
              UnorderedElementsAre(Pair("enabled", "false"), Pair("target-file-size-bytes", "1048576")));
}

TEST(PolarisValues, TheNearestOfATypeWins) {
  const std::string on = R"({"enable":true})", off = R"({"enable":false})";
  const PolarisPolicy catalog = Compaction(off, true, {}), db = Compaction(off, true, {"db"}),
                      deep = Compaction(on, true, {"db", "x"}), own = Compaction(on, false, {"db"});
  EXPECT_EQ(PolarisValues({catalog, deep, db}).value().at("enabled").text, "true");
  EXPECT_EQ(PolarisValues({own, catalog, db}).value().at("enabled").text, "true");
  EXPECT_EQ(PolarisValues({catalog, db}).value().at("enabled").text, "false");
  PolarisPolicy twin = db;
  twin.name = "twin";
  const auto both = PolarisValues({catalog, db, twin});
  ASSERT_FALSE(both.has_value());
  EXPECT_THAT(both.error().message, HasSubstr("twin"));
  EXPECT_TRUE(PolarisValues({db, twin, deep}).has_value()) << "a nearer one settles it";
}

TEST(PolarisValues, SiblingsAreCheckedAndGiveNoSettings) {
  PolarisPolicy expiry{.type = std::string(kPolarisSnapshotExpiry),
                       .name = "e",
                       .content = R"({"version":"2025-02-03","enable":true,"config":{"min_snapshot_to_keep":1}})",
                       .name_space = {}};
  PolarisPolicy custom{.type = "custom.masking", .name = "m", .content = "whatever", .name_space = {}};
  EXPECT_TRUE(PolarisValues({expiry, custom}).value().empty());
  expiry.content = R"({"enable":"yes"})";
  EXPECT_FALSE(PolarisValues({expiry}).has_value());
}

TEST(PolarisValues, UnknownOrContradictoryContent_IsAnErrorThatNamesIt) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "content"},
      {"[]", "content"},
      {"{}", "enable"},
      {R"({"enable":1})", "enable"},
      {R"({"enable":true,"version":"2031-01-01"})", "version"},
      {R"({"enable":true,"target":1})", "target"},
      {R"({"enable":true,"target_file_size_bytes":"big"})", "target_file_size_bytes"},
      {R"({"enable":true,"target_file_size_bytes":-1})", "target_file_size_bytes"},
      {R"({"enable":true,"target_file_size_bytes":2000000,"config":{"target_file_size_bytes":3000000}})",
       "target_file_size_bytes"},
      {R"({"enable":true,"config":[]})", "config"},
      {R"({"enable":true,"config":{"firn.enabled":"false"}})", "firn.enabled"},
      {R"({"enable":true,"config":{"firn.priorty":"2"}})", "firn.priorty"},
      {R"({"enable":true,"config":{"firn.priority":[2]}})", "firn.priority"},
      {R"({"enable":true,"config":{"firn.priority":0}})", "firn.priority"}};
  for (const auto& [content, named] : cases) {
    const auto values = PolarisValues({Compaction(content)});
    ASSERT_FALSE(values.has_value()) << content;
    EXPECT_EQ(values.error().code, Code::kInvalidArgument) << content;
    EXPECT_THAT(values.error().message, HasSubstr("`" + named + "`")) << content;
    EXPECT_THAT(values.error().message, HasSubstr("`c1`")) << content;
    EXPECT_EQ(values.error().message.find("table property"), std::string::npos) << values.error().message;
  }
}

/// A small Polaris: it knows one token, and gives policies in pages of one.
class FakePolaris {
 public:
  Result<ports::HttpResponse> Answer(const ports::HttpRequest& request) {
    if (request.url.find("/v1/oauth/tokens") != request.url.npos) {
      ++tokens_;
      return Json(200, fmt::format(R"({{"access_token":"t{}","token_type":"bearer","expires_in":3600}})", tokens_));
    }
    if (request.url.find("/v1/config") != request.url.npos) {
      return Json(200, R"({"overrides":{"prefix":"my lake"})" + endpoints + "}");
    }
    for (const auto& [name, value] : request.headers) {
      if (name == "Authorization" && value == "Bearer t" + std::to_string(good_token)) return Policies(request.url);
    }
    return Json(401, R"({"error":{"message":"who are you","type":"NotAuthorizedException","code":401}})");
  }

  int good_token = 1;
  int status = 200;
  std::string error_type = "X";
  std::string endpoints;  // members of the configuration
  bool endless = false;
  std::string last_url;

 private:
  static ports::HttpResponse Json(int code, std::string body) {
    return {code, {{"content-type", "application/json"}}, std::move(body)};
  }
  ports::HttpResponse Policies(const std::string& url) {
    last_url = url;
    if (status != 200) return Json(status, R"({"error":{"message":"no","type":")" + error_type + R"(","code":0}})");
    const bool second = url.find("page-token=p2") != url.npos;
    const std::string next = endless || !second ? R"("p2")" : "null";
    const std::string policy =
        second ? R"({"policy-type":"system.data-compaction","inheritable":true,"name":"own","version":4,)"
                 R"("content":"{\"enable\":true,\"target_file_size_bytes\":1048576}","inherited":false,)"
                 R"("namespace":["a","b"]})"
               : R"({"policy-type":"system.data-compaction","inheritable":true,"name":"all","version":1,)"
                 R"("content":"{\"enable\":false}","inherited":true,"namespace":[]})";
    return Json(200, fmt::format(R"({{"applicable-policies":[{}],"next-page-token":{}}})", policy, next));
  }
  int tokens_ = 0;
};

class PolarisPoliciesTest : public testing::Test {
 protected:
  std::unique_ptr<PolarisPolicies> Make() {
    auto http = std::make_shared<ports::MemoryHttp>([this](const auto& request) { return server_.Answer(request); });
    auto made = PolarisPolicies::Make(
        {{"uri", "http://host/api/catalog/"}, {"credential", "id:s3cret"}, {"scope", "PRINCIPAL_ROLE:ALL"}}, http,
        clock_);
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return std::move(*made);
  }

  ports::ManualClock clock_{TimestampMs{1'700'000'000'000}};
  FakePolaris server_;
};

TEST_F(PolarisPoliciesTest, AllPagesAreRead) {
  server_.good_token = 2;  // the first one is of the configuration
  const auto policies = Make()->Applicable({"a", "b"}, "t 1");
  ASSERT_TRUE(policies.has_value()) << policies.error().message;
  ASSERT_EQ(policies->size(), 2U);
  EXPECT_EQ(policies->at(1).name_space.size(), 2U);
  EXPECT_EQ(policies->at(1).version, 4);
  const PolicyValues values = PolarisValues(*policies).value();
  EXPECT_EQ(values.at("enabled").text, "true");
  EXPECT_EQ(values.at("enabled").place, "Polaris policy `own`");
  EXPECT_THAT(server_.last_url,
              testing::StartsWith("http://host/api/catalog/polaris/v1/my%20lake/applicable-policies?"));
  EXPECT_THAT(server_.last_url, HasSubstr("namespace=a%1Fb&target-name=t%201"));
}

TEST_F(PolarisPoliciesTest, ARefusedToken_IsRenewedOnce) {
  server_.good_token = 3;
  const auto client = Make();
  EXPECT_TRUE(client->Applicable({"db"}, "t").has_value());
  server_.good_token = 99;
  const auto refused = client->Applicable({"db"}, "t");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, Not(HasSubstr("s3cret")));
}

TEST_F(PolarisPoliciesTest, WhereRequestsAreSigned_ThisOneIsToo) {
  std::vector<ports::HttpRequest> asked;
  auto http = std::make_shared<ports::MemoryHttp>([&](const auto& request) {
    asked.push_back(request);
    return server_.Answer(request);
  });
  const auto made = PolarisPolicies::Make({{"uri", "http://host/api/catalog"},
                                           {"token", "t1"},
                                           {"rest.sigv4-enabled", "true"},
                                           {"client.region", "r"},
                                           {"client.access-key-id", "id"},
                                           {"client.secret-access-key", "s3cret"}},
                                          http, clock_);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_FALSE((*made)->Applicable({"db"}, "t")) << "the fake one knows no signatures";
  const auto header = [&](std::string_view wanted) -> std::string {
    for (const auto& [name, value] : asked.back().headers) {
      if (name == wanted) return value;
    }
    return "";
  };
  EXPECT_THAT(asked.back().url, HasSubstr("/polaris/v1/"));
  EXPECT_THAT(header("Authorization"), testing::StartsWith("AWS4-HMAC-SHA256 Credential=id/"));
  EXPECT_EQ(header("Original-Authorization"), "Bearer t1");
}

TEST_F(PolarisPoliciesTest, FailuresSayWhatToDo) {
  server_.good_token = 2;
  const auto client = Make();
  const std::vector<std::pair<int, Code>> cases = {
      {404, Code::kUnsupported}, {501, Code::kUnsupported}, {503, Code::kUnavailable}, {403, Code::kInvalidArgument}};
  for (const auto& [status, code] : cases) {
    server_.status = status;
    const auto answer = client->Applicable({"db"}, "t");
    ASSERT_FALSE(answer.has_value()) << status;
    EXPECT_EQ(answer.error().code, code) << status;
  }
  server_.status = 406;
  EXPECT_EQ(client->Applicable({"db"}, "t").error().code, Code::kUnsupported);
  server_.status = 404;
  server_.error_type = "NoSuchTableException";
  EXPECT_EQ(client->Applicable({"db"}, "t").error().code, Code::kNotFound) << "of this table, not of the API";
  server_.status = 200;
  server_.endless = true;
  EXPECT_EQ(client->Applicable({"db"}, "t").error().code, Code::kLimit) << "pages without end";
}

TEST_F(PolarisPoliciesTest, ACatalogThatDoesNotListTheEndpoint_IsNotAsked) {
  const auto open = [&] {
    auto http = std::make_shared<ports::MemoryHttp>([this](const auto& request) { return server_.Answer(request); });
    return PolarisPolicies::Make({{"uri", "http://host/api/catalog"}, {"token", "t1"}}, http, clock_, true);
  };
  for (const char* endpoints : {"", R"(,"endpoints":[])", R"(,"endpoints":["GET /v1/{prefix}/namespaces"])"}) {
    server_.endpoints = endpoints;
    const auto made = open();
    ASSERT_FALSE(made.has_value()) << endpoints;
    EXPECT_EQ(made.error().code, Code::kUnsupported);
  }
  server_.endpoints = R"(,"endpoints":["GET /v1/config","GET /polaris/v1/{prefix}/applicable-policies"])";
  const auto made = open();
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE((*made)->Applicable({"db"}, "t").has_value());
}

TEST(ParseApplicablePolicies, BrokenAnswers_AreErrors) {
  std::vector<PolarisPolicy> policies;
  for (const char* body :
       {"", "{}", "[]", R"({"applicable-policies":{}})", R"({"applicable-policies":[1]})",
        R"({"applicable-policies":[{"name":"x"}]})", R"({"applicable-policies":[{"name":"x","policy-type":1}]})"}) {
    EXPECT_FALSE(ParseApplicablePolicies(body, policies).has_value()) << body;
  }
}

}  // namespace
}  // namespace firn::service
