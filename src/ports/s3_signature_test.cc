// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::ports {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string Authorization(const HttpRequest& request) {
  for (const auto& [name, value] : request.headers) {
    if (name == "Authorization") return value;
  }
  return "";
}

/// "Example: PUT Object" of the page that the header names.
TEST(SignForS3Test, PutObjectOfTheDocumentation) {
  HttpRequest request{.method = "PUT",
                      .url = "https://examplebucket.s3.amazonaws.com/test%24file.text",
                      .body = "Welcome to Amazon S3."};
  request.headers = {{"Date", "Fri, 24 May 2013 00:00:00 GMT"}, {"x-amz-storage-class", "REDUCED_REDUNDANCY"}};
  const S3Keys keys{"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", ""};
  ASSERT_TRUE(SignForS3(request, keys, "us-east-1", TimestampMs{1'369'353'600'000}));
  EXPECT_EQ(Authorization(request),
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
            "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class, "
            "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(SignForS3Test, TemporaryKeys_TheirTokenIsSentAndSigned) {
  HttpRequest request{.method = "PUT", .url = "http://127.0.0.1:9000/b/k"};
  ASSERT_TRUE(SignForS3(request, {"id", "secret", "token"}, "eu-central-1", TimestampMs{0}));
  EXPECT_THAT(request.headers, testing::Contains(std::pair<std::string, std::string>("X-Amz-Security-Token", "token")));
  EXPECT_THAT(Authorization(request), HasSubstr("Credential=id/19700101/eu-central-1/s3/aws4_request"));
  EXPECT_THAT(Authorization(request), HasSubstr("x-amz-security-token"));
  EXPECT_THAT(Authorization(request), testing::Not(HasSubstr("secret,")));
}

}  // namespace
}  // namespace firn::ports
