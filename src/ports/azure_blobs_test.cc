// SPDX-License-Identifier: Apache-2.0
#include "ports/azure_blobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ports/memory_file_io.h"

namespace firn::ports {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using Header = std::pair<std::string, std::string>;

class AzureBlobsTest : public testing::Test {
 protected:
  AzureBlobsTest() {
    account_.name = "lake";
    account_.key = "c2VjcmV0";
  }

  Status Delete(std::vector<int> statuses, const std::string& reason = "") {
    http_ =
        std::make_shared<MemoryHttp>([=, next = std::size_t{0}](const HttpRequest&) mutable -> Result<HttpResponse> {
          const int status = statuses.at(next++);
          if (status == 0) return Error{Code::kOutcomeUnknown, "sent, but no answer"};
          HttpResponse response{.status = status, .headers = {}, .body = ""};
          if (!reason.empty()) response.headers.emplace_back("x-ms-error-code", reason);
          return response;
        });
    return AzureBlobs(http_, account_, clock_).Delete("box/a b/%20/é.parquet");
  }

  AzureAccount account_;
  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::shared_ptr<MemoryHttp> http_;
};

TEST_F(AzureBlobsTest, Delete_SendsOneSignedRequest) {
  ASSERT_TRUE(Delete({202}));
  ASSERT_EQ(http_->requests().size(), 1U);
  const HttpRequest request = http_->requests()[0];
  EXPECT_EQ(request.method + " " + request.url,
            "DELETE https://lake.blob.core.windows.net/box/a%20b/%2520/%C3%A9.parquet");
  EXPECT_THAT(request.headers, Contains(Header("x-ms-date", "Tue, 14 Nov 2023 22:13:20 GMT")));
  EXPECT_THAT(request.headers, Contains(Header("x-ms-version", "2021-12-02")));
  // HMAC-SHA256 of "DELETE\n\n\n\n\napplication/octet-stream\n\n\n\n\n\n\nx-ms-date:...\n...", made with Python's hmac.
  EXPECT_THAT(request.headers,
              Contains(Header("Authorization", "SharedKey lake:yRjnoi62xzDQ3npxsyuPDlPp/uh7sbydQKOKuCfvhlQ=")));
}

TEST_F(AzureBlobsTest, Delete_WithASharedAccessSignature_ItIsTheQuery) {
  account_.key.clear();
  account_.sas_token = "sv=1&sig=hidden";
  account_.blob = {.scheme = "http", .authority = "127.0.0.1:9"};
  const Status refused = Delete({403}, "AuthenticationFailed");
  EXPECT_EQ(http_->requests()[0].url, "http://127.0.0.1:9/lake/box/a%20b/%2520/%C3%A9.parquet?sv=1&sig=hidden");
  EXPECT_THAT(http_->requests()[0].headers, Not(Contains(testing::Key("Authorization"))));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("403 AuthenticationFailed"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("hidden")));
}

TEST_F(AzureBlobsTest, Put_IsSignedWithItsCondition) {
  const auto path_of = [](const std::string&) -> Result<std::string> { return "box/v1.metadata.json"; };
  const auto request = AzureObjects(account_, path_of, clock_).request("", AsBytes(std::string_view("four")));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method + " " + request->url, "PUT https://lake.blob.core.windows.net/box/v1.metadata.json");
  EXPECT_THAT(request->headers, Contains(Header("If-None-Match", "*")));
  // HMAC-SHA256 of "PUT\n\n\n4\n\napplication/octet-stream\n\n\n\n*\n\n\nx-ms-blob-type:...", made with Python's hmac.
  EXPECT_THAT(request->headers,
              Contains(Header("Authorization", "SharedKey lake:DdAhLo4VbOxEVRplyowAg1W1psEX3FfJsZ6j2XSmvwg=")));
}

TEST_F(AzureBlobsTest, Put_NameTaken_ConflictUnlessTheBytesAreOurs) {
  MemoryFileIO objects;
  objects.Put("abfs://box@lake/k", {'o'});
  const auto path_of = [](const std::string&) -> Result<std::string> { return "box/k"; };
  http_ = std::make_shared<MemoryHttp>([](const HttpRequest&) -> Result<HttpResponse> {
    return HttpResponse{.status = 409, .headers = {{"x-ms-error-code", "BlobAlreadyExists"}}, .body = ""};
  });
  ConditionalPut put(http_, AzureObjects(account_, path_of, clock_), objects, clock_);
  const Status taken = put.Put("abfs://box@lake/k", AsBytes(std::string_view("x")));
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kConflict);
  EXPECT_THAT(taken.error().message, HasSubstr("file exists already"));
  EXPECT_EQ(http_->requests().size(), 1U) << "nothing is open, so nothing is sent again";
  EXPECT_TRUE(put.Put("abfs://box@lake/k", AsBytes(std::string_view("o")))) << "sent twice by something in between";
}

TEST_F(AzureBlobsTest, Delete_MissingBlob_Ok_MissingContainer_Refused) {
  EXPECT_TRUE(Delete({404}, "BlobNotFound"));
  EXPECT_EQ(Delete({404}, "ContainerNotFound").error().code, Code::kInvalidArgument);
}

TEST_F(AzureBlobsTest, Delete_NoAnswerOrBusy_IsSentAgain) {
  EXPECT_TRUE(Delete({0, 503, 429, 202}));
  EXPECT_EQ(http_->requests().size(), 4U);
  const Status given_up = Delete({503, 503, 503, 500});
  ASSERT_FALSE(given_up);
  EXPECT_EQ(given_up.error().code, Code::kUnavailable);
}

TEST_F(AzureBlobsTest, Delete_KeyThatIsNotBase64_IsSaidWithoutIt) {
  account_.key = "?hidden?";
  const Status refused = Delete({});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_THAT(refused.error().message, HasSubstr("adls.account-key"));
  EXPECT_THAT(refused.error().message, Not(HasSubstr("hidden")));
}

}  // namespace
}  // namespace firn::ports
