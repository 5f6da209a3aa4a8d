// SPDX-License-Identifier: Apache-2.0
#include "ports/s3_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>

namespace firn::ports {
namespace {

using ::testing::HasSubstr;

constexpr const char* kLocation = "s3://bucket/a b/data.parquet";

/// Gives the answers in order, the last one again and again.
class S3RequestsTest : public testing::Test {
 protected:
  Status DeleteWith(std::deque<HttpResponse> answers) {
    http_ = std::make_shared<MemoryHttp>([answers](const HttpRequest&) mutable -> Result<HttpResponse> {
      HttpResponse answer = answers.front();
      if (answers.size() > 1) answers.pop_front();
      return answer;
    });
    const S3Endpoint endpoint{.scheme = "http", .host = "s3", .by_host = false, .region = "r", .keys = {}};
    return S3Requests(http_, endpoint, clock_).Delete(kLocation);
  }
  static HttpResponse ErrorOf(int status, const std::string& code) {
    return {
        .status = status, .headers = {}, .body = "<Error><Code>" + code + "</Code><Message>so it is</Message></Error>"};
  }

  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::shared_ptr<MemoryHttp> http_;
};

TEST_F(S3RequestsTest, Delete_IsOneRequest) {
  EXPECT_TRUE(DeleteWith({{.status = 204, .headers = {}, .body = ""}}));
  ASSERT_EQ(http_->requests().size(), 1U);
  EXPECT_EQ(http_->requests()[0].method, "DELETE");
  EXPECT_EQ(http_->requests()[0].url, "http://s3/bucket/a%20b/data.parquet");
  EXPECT_TRUE(http_->requests()[0].is_repeatable);
}

TEST_F(S3RequestsTest, Delete_OfWhatIsNotThere_IsOk) { EXPECT_TRUE(DeleteWith({ErrorOf(404, "NoSuchKey")})); }

TEST_F(S3RequestsTest, Delete_StoreThatIsBusy_IsAskedAgain) {
  EXPECT_TRUE(DeleteWith({ErrorOf(503, "SlowDown"), {.status = 204, .headers = {}, .body = ""}}));
  EXPECT_EQ(http_->requests().size(), 2U);
}

TEST_F(S3RequestsTest, Delete_ThatIsNotAllowed_SaysSoAtOnce) {
  const Status deleted = DeleteWith({ErrorOf(403, "AccessDenied")});
  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().code, Code::kInvalidArgument);
  EXPECT_THAT(deleted.error().message, HasSubstr(kLocation));
  EXPECT_THAT(deleted.error().message, HasSubstr("AccessDenied"));
  EXPECT_EQ(http_->requests().size(), 1U);
}

TEST_F(S3RequestsTest, Delete_StoreThatStaysBusy_IsUnavailable) {
  const Status deleted = DeleteWith({ErrorOf(503, "SlowDown")});
  ASSERT_FALSE(deleted);
  EXPECT_EQ(deleted.error().code, Code::kUnavailable);
}

}  // namespace
}  // namespace firn::ports
