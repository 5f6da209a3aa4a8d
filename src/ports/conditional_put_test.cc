// SPDX-License-Identifier: Apache-2.0
#include "ports/conditional_put.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ports/memory_file_io.h"
#include "ports/s3_object_request.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;

/// What the store does with one request.
enum class Fault {
  kNone,
  kLoseRequest,
  kLoseAnswer,
  kNotSent,
  kServerError,
  kServerErrorAfterWriting,
  kBusy,
  kTwice,
  kTwiceBusy
};

/// A store behind MemoryHttp. Its objects are those of the FileIO, which reads them back.
class ConditionalPutTest : public testing::Test {
 protected:
  ConditionalPut Make(const std::string& host) {
    http_ = std::make_shared<MemoryHttp>([this](const HttpRequest& request) { return Answer(request); });
    S3Endpoint endpoint{.scheme = "http", .host = host, .by_host = false, .region = "r", .keys = {}};
    if (has_keys_) endpoint.keys = [] { return S3Keys{"id", "hidden", ""}; };
    return ConditionalPut(http_, S3Objects(std::move(endpoint), clock_), objects_, clock_);
  }

  Result<HttpResponse> Answer(const HttpRequest& request) {
    const Fault fault = next_ < faults_.size() ? faults_[next_++] : Fault::kNone;
    if (fault == Fault::kNotSent) return Error{Code::kUnavailable, "not sent: refused"};
    if (fault == Fault::kLoseRequest) return Error{Code::kOutcomeUnknown, "sent, but no answer"};
    if (fault == Fault::kServerError) return HttpResponse{.status = 503, .headers = {}, .body = ""};
    if (fault == Fault::kBusy) return HttpResponse{.status = 409, .headers = {}, .body = ""};
    if (refuses_conditions_) {
      return HttpResponse{.status = 501, .headers = {}, .body = "<Error><Code>NotImplemented</Code></Error>"};
    }
    const std::string location = "s3:/" + request.url.substr(request.url.find('/', 7));
    if (!ignores_conditions_ && objects_.Exists(location).value()) {
      return HttpResponse{.status = 412, .headers = {}, .body = "<Code>PreconditionFailed</Code>"};
    }
    objects_.Put(location, Bytes(request.body.begin(), request.body.end()));
    // Something in between sends it once more, and hands on what that is answered.
    if (fault == Fault::kTwice) return Answer(request);
    if (fault == Fault::kTwiceBusy) return HttpResponse{.status = 409, .headers = {}, .body = ""};
    if (fault == Fault::kLoseAnswer) return Error{Code::kOutcomeUnknown, "sent, but no answer"};
    if (fault == Fault::kServerErrorAfterWriting) return HttpResponse{.status = 500, .headers = {}, .body = ""};
    return HttpResponse{.status = 200, .headers = {}, .body = ""};
  }

  std::string At(const std::string& location) {
    const auto bytes = ReadFile(objects_, location);
    return bytes ? std::string(AsText(*bytes)) : "none";
  }

  MemoryFileIO objects_;
  ManualClock clock_{TimestampMs{1'700'000'000'000}};
  std::shared_ptr<MemoryHttp> http_;
  std::vector<Fault> faults_;
  std::size_t next_ = 0;
  bool has_keys_ = false, ignores_conditions_ = false, refuses_conditions_ = false;
};

TEST(S3ObjectsTest, Request_TheBucketChoosesNoHost) {
  ManualClock clock(TimestampMs{1'700'000'000'000});
  const auto url = [&](bool by_host, const std::string& location) {
    const S3Endpoint endpoint{.scheme = "https", .host = "s3", .by_host = by_host, .region = "r", .keys = {}};
    const auto request = S3Objects(endpoint, clock).request(location, {});
    return request ? request->url : ToString(request.error());
  };
  EXPECT_EQ(url(true, "s3://my-bucket/a b"), "https://my-bucket.s3/a%20b");
  EXPECT_EQ(url(true, "s3://my.bucket/k"), "https://s3/my.bucket/k");
  for (const bool by_host : {true, false}) {
    EXPECT_EQ(url(by_host, "s3://2130706433:80?x/k"), "https://s3/2130706433%3A80%3Fx/k");
    EXPECT_EQ(url(by_host, "s3://localhost#/k"), "https://s3/localhost%23/k");
    EXPECT_EQ(url(by_host, "s3://me@localhost:1\\x/k"), "https://s3/me%40localhost%3A1%5Cx/k");
    EXPECT_THAT(url(by_host, "s3://../k"), HasSubstr("no bucket"));
  }
}

TEST_F(ConditionalPutTest, Put_SendsOneSignedConditionalRequest) {
  has_keys_ = true;
  auto put = Make("h:9");
  ASSERT_TRUE(put.Put("s3a://b/a b/%20/v1.metadata.json", AsBytes("x")));
  const auto requests = http_->requests();
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_EQ(requests[0].method + " " + requests[0].url, "PUT http://h:9/b/a%20b/%2520/v1.metadata.json");
  EXPECT_EQ(requests[0].body, "x");
  using Header = std::pair<std::string, std::string>;
  EXPECT_THAT(requests[0].headers, testing::Contains(Header("If-None-Match", "*")));
  EXPECT_THAT(requests[0].headers,
              testing::Contains(testing::Pair("Authorization", HasSubstr("SignedHeaders=content-type;host;if-none-"))));
}

TEST_F(ConditionalPutTest, Put_NameTaken_Conflict) {
  auto put = Make("h");
  objects_.Put("s3://b/k", {'o'});
  const Status done = put.Put("s3://b/k", AsBytes("x"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kConflict);
  EXPECT_EQ(At("s3://b/k"), "o");
}

TEST_F(ConditionalPutTest, Put_SentTwiceByAGateway_IsOurs) {
  faults_ = {Fault::kTwice};
  auto put = Make("h");
  const Status done = put.Put("s3://b/k", AsBytes("mine"));
  EXPECT_TRUE(done) << ToString(done.error());
  EXPECT_EQ(At("s3://b/k"), "mine");
}

TEST_F(ConditionalPutTest, Put_BeingWrittenPerhapsByUsAndNothingThereYet_IsNoConflict) {
  faults_ = {Fault::kBusy, Fault::kBusy, Fault::kBusy, Fault::kBusy};
  auto put = Make("h");
  const Status done = put.Put("s3://b/k", AsBytes("mine"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kUnavailable) << done.error().message;
}

TEST_F(ConditionalPutTest, Put_Faults_OutcomeIsWhatTheStoreHolds) {
  using enum Fault;
  for (const auto& faults : std::vector<std::vector<Fault>>{{kLoseRequest},
                                                            {kLoseAnswer},
                                                            {kNotSent},
                                                            {kServerError},
                                                            {kServerErrorAfterWriting},
                                                            {kBusy},
                                                            {kLoseAnswer, kLoseRequest},
                                                            {kLoseAnswer, kServerError, kNotSent, kBusy},
                                                            {kLoseRequest, kLoseRequest, kLoseRequest, kLoseRequest},
                                                            {kBusy, kBusy, kBusy, kBusy},
                                                            {kTwice},
                                                            {kBusy, kTwice},
                                                            {kTwiceBusy, kBusy, kBusy, kBusy},
                                                            {kNotSent, kNotSent, kNotSent, kNotSent}}) {
    for (const bool taken : {false, true}) {
      ASSERT_TRUE(objects_.Delete("s3://b/k"));
      if (taken) objects_.Put("s3://b/k", {'o'});
      faults_ = faults;
      next_ = 0;
      auto put = Make("h");
      const Status done = put.Put("s3://b/k", AsBytes("mine"));
      const std::string found = At("s3://b/k");
      SCOPED_TRACE(testing::Message() << faults.size() << " faults, taken " << taken << ": " << found);
      if (taken) {
        EXPECT_EQ(found, "o");
        EXPECT_FALSE(done);
      } else {
        EXPECT_EQ(done.has_value(), found == "mine");
      }
      if (!done) {
        EXPECT_TRUE(done.error().code == Code::kUnavailable || (taken && done.error().code == Code::kConflict));
      }
    }
  }
}

TEST_F(ConditionalPutTest, Put_AnswerLostAndAnotherWon_Conflict) {
  faults_ = {Fault::kLoseRequest};
  auto put = Make("h");
  objects_.Put("s3://b/k", {'o'});
  const Status done = put.Put("s3://b/k", AsBytes("mine"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::kConflict);
}

TEST_F(ConditionalPutTest, CheckHonoured_AsksOnceAndLeavesNothing) {
  auto put = Make("honest");
  ASSERT_TRUE(put.CheckHonoured("s3://b/t/metadata/v1.metadata.json"));
  EXPECT_EQ(http_->requests().size(), 2U);
  EXPECT_THAT(http_->requests()[0].url, HasSubstr("/b/t/metadata/.firn-probe-"));
  EXPECT_EQ(objects_.file_count(), 0U);
  ASSERT_TRUE(put.CheckHonoured("s3://b/u/metadata/v7.metadata.json"));
  EXPECT_EQ(http_->requests().size(), 2U) << "the bucket is known";
  ASSERT_TRUE(put.CheckHonoured("s3://c/u/metadata/v7.metadata.json"));
  EXPECT_EQ(http_->requests().size(), 4U) << "another bucket is not";
}

TEST_F(ConditionalPutTest, CheckHonoured_StoreIgnoresOrRefusesConditions_IsRefused) {
  for (const bool ignores : {true, false}) {
    ignores_conditions_ = ignores;
    refuses_conditions_ = !ignores;
    auto put = Make(ignores ? "ignores" : "refuses");
    for (int i = 0; i < 2; ++i) {
      const Status checked = put.CheckHonoured("s3://b/t/metadata/v1.metadata.json");
      ASSERT_FALSE(checked);
      EXPECT_EQ(checked.error().code, Code::kUnsupported);
      EXPECT_THAT(checked.error().message, HasSubstr("does not honour conditional writes"));
    }
    EXPECT_EQ(objects_.file_count(), 0U);
  }
}

TEST_F(ConditionalPutTest, CheckHonoured_StoreDoesNotAnswer_IsNoVerdict) {
  faults_ = std::vector<Fault>(4, Fault::kNotSent);
  auto put = Make("silent");
  const Status checked = put.CheckHonoured("s3://b/t/metadata/v1.metadata.json");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Code::kUnavailable);
  EXPECT_TRUE(put.CheckHonoured("s3://b/t/metadata/v1.metadata.json")) << "it is asked again";
}

}  // namespace
}  // namespace firn::ports
