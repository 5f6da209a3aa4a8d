// SPDX-License-Identifier: Apache-2.0
#include "ports/aws_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::ports {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::string_view kDate = "20150830T123600Z";

AwsSigner ExampleSigner(std::string service = "service") {
  return {"AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "", "us-east-1", std::move(service)};
}

std::string Header(const HttpRequest& request, std::string_view name) {
  for (const auto& [key, value] : request.headers) {
    if (key == name) return value;
  }
  return "(none)";
}

// The first five are AWS's: its test suite for version 4 (get-vanilla, get-vanilla-query-order-key-case, post-vanilla,
// post-x-www-form-urlencoded) and the example of its guide (ListUsers). The other two are botocore's answers.
TEST(AwsSignature, PublishedExamples) {
  struct Case {
    std::string method, url, host, service;
    HttpHeaders headers;
    std::string body, end;
  };
  const std::string site = "https://example.amazonaws.com";
  const Case cases[] = {
      {"GET",
       site + "/",
       "example.amazonaws.com",
       "service",
       {},
       "",
       "host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
      {"GET",
       site + "/?Param2=value2&Param1=value1",
       "example.amazonaws.com",
       "service",
       {},
       "",
       "host;x-amz-date, Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
      {"POST",
       site + "/",
       "example.amazonaws.com",
       "service",
       {},
       "",
       "host;x-amz-date, Signature=5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
      {"POST",
       site + "/",
       "example.amazonaws.com",
       "service",
       {{"Content-Type", "application/x-www-form-urlencoded"}},
       "Param1=value1",
       "content-type;host;x-amz-date, Signature=ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a"},
      {"GET",
       "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
       "iam.amazonaws.com",
       "iam",
       {{"Content-Type", "application/x-www-form-urlencoded; charset=utf-8"}},
       "",
       "content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"},
      {"GET",
       site + "/v1/namespaces/a%1Fb/tables/t%2F1?snapshots=all&b=&a=x%20y",
       "example.amazonaws.com",
       "service",
       {},
       "",
       "host;x-amz-date, Signature=0022bcc8f8afd9403f2f7a64a98a22b3adecd360ab2c874289ea4156f8401a3e"},
      {"GET",
       site + "/",
       "example.amazonaws.com",
       "service",
       {{"My-Header1", " value1  a   b "}},
       "",
       "host;my-header1;x-amz-date, Signature=f8abef309833a862aa415a3a36f92896dd1b70e10846f5761af0278c0a2ded4c"},
  };
  for (const Case& each : cases) {
    HttpRequest request{.method = each.method, .url = each.url, .headers = each.headers, .body = each.body};
    request.headers.emplace_back("Host", each.host);
    request.headers.emplace_back("X-Amz-Date", kDate);
    const auto header = AwsAuthorization(request, ExampleSigner(each.service), kDate);
    ASSERT_TRUE(header);
    EXPECT_THAT(*header, StartsWith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/" + each.service +
                                    "/aws4_request, SignedHeaders="));
    EXPECT_THAT(*header, EndsWith("SignedHeaders=" + each.end)) << each.url;
  }
}

TEST(AwsSignature, Sign_AddsWhatIsSigned_AndMovesTheOtherAuthorization) {
  AwsSigner signer = ExampleSigner("execute-api");
  signer.session_token = "temporary";
  HttpRequest request{
      .method = "POST", .url = "http://user:pw@host:80/a?b=c", .headers = {{"Authorization", "Bearer t"}}, .body = "x"};
  ASSERT_TRUE(signer.Sign(request, TimestampMs{1'440'938'160'123}));
  EXPECT_EQ(Header(request, "Host"), "host");
  EXPECT_EQ(Header(request, "X-Amz-Date"), kDate);
  EXPECT_EQ(Header(request, "X-Amz-Security-Token"), "temporary");
  EXPECT_EQ(Header(request, "X-Amz-Content-SHA256"),
            "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881");
  EXPECT_EQ(Header(request, "Original-Authorization"), "Bearer t");
  EXPECT_THAT(Header(request, "Authorization"),
              HasSubstr("SignedHeaders=host;original-authorization;x-amz-content-sha256;x-amz-date;"
                        "x-amz-security-token, Signature="));
}

TEST(AwsSignature, RestSigner_TakesKeysTogether) {
  EXPECT_FALSE(RestSigner({{"rest.access-key-id", "a"}}).value()) << "not enabled";
  const Properties enabled = {{"rest.sigv4-enabled", "true"}, {"aws.region", "eu-west-1"}};
  const auto signer = RestSigner(Merged(enabled, {{"rest.access-key-id", "a"},
                                                  {"rest.secret-access-key", "b"},
                                                  {"aws.access-key-id", "c"},
                                                  {"aws.secret-access-key", "d"},
                                                  {"aws.session-token", "e"}}));
  ASSERT_TRUE(signer && *signer) << ToString(signer.error());
  EXPECT_EQ((*signer)->access_key_id + (*signer)->secret_access_key + (*signer)->session_token, "ab");
  EXPECT_EQ((*signer)->region, "eu-west-1");
  EXPECT_EQ((*signer)->service, "execute-api");
  const auto other = RestSigner(Merged(enabled, {{"client.access-key-id", "c"},
                                                 {"client.secret-access-key", "d"},
                                                 {"client.session-token", "e"},
                                                 {"rest.signing-region", "r"},
                                                 {"rest.signing-name", "glue"}}));
  ASSERT_TRUE(other && *other);
  EXPECT_EQ((*other)->access_key_id + (*other)->session_token + (*other)->region + (*other)->service, "cerglue");
  for (const Properties& wrong : {Properties{}, Properties{{"rest.secret-access-key", "hunter2"}}}) {
    const auto refused = RestSigner(Merged(enabled, wrong));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
    EXPECT_THAT(refused.error().message, Not(HasSubstr("hunter2")));
  }
  const Properties keys = {{"client.access-key-id", "c"}, {"client.secret-access-key", "d"}};
  EXPECT_FALSE(RestSigner(Merged(keys, {{"rest.sigv4-enabled", "true"}}))) << "no region";
}

}  // namespace
}  // namespace firn::ports
