// SPDX-License-Identifier: Apache-2.0
#include "ports/gcs_object_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::ports {
namespace {

using Header = std::pair<std::string, std::string>;

TEST(GcsObjectsTest, Request_IsAnUploadUnderTheCondition) {
  const ConditionalStore store = GcsObjects("http://h:9", "secret");
  const auto request = store.request("gs://b/a b/%20/v1.metadata.json", AsBytes(std::string_view("x\r\ny")));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->method + " " + request->url,
            "POST http://h:9/upload/storage/v1/b/b/o?uploadType=multipart&ifGenerationMatch=0"
            "&name=a%20b%2F%2520%2Fv1.metadata.json");
  EXPECT_THAT(request->headers, testing::Contains(Header("Authorization", "Bearer secret")));
  EXPECT_THAT(request->headers, testing::Contains(Header("Content-Type", "multipart/related; boundary=firn-part-0")));
  EXPECT_EQ(request->body,
            "--firn-part-0\r\nContent-Type: application/json\r\n\r\n{}\r\n--firn-part-0\r\n"
            "Content-Type: application/octet-stream\r\n\r\nx\r\ny\r\n--firn-part-0--\r\n");
}

TEST(GcsObjectsTest, Request_TheBucketEndsNothing) {
  const auto request = GcsObjects("http://h", "").request("gs://b?x#y:z%2F@w/k", {});
  ASSERT_TRUE(request);
  EXPECT_THAT(request->url, testing::StartsWith("http://h/upload/storage/v1/b/b%3Fx%23y%3Az%252F%40w/o?uploadType="));
  EXPECT_EQ(GcsObjects("http://h", "").request("gs://../k", {}).error().code, Code::kInvalidArgument);
}

TEST(GcsObjectsTest, Request_BytesWithTheBoundary_GetAnotherOne) {
  const auto request = GcsObjects("http://h", "").request("gs://b/k", AsBytes(std::string_view("\r\n--firn-part-0")));
  ASSERT_TRUE(request);
  EXPECT_EQ(request->headers, (HttpHeaders{{"Content-Type", "multipart/related; boundary=firn-part-1"}}));
  EXPECT_THAT(request->body, testing::EndsWith("\r\n--firn-part-0\r\n--firn-part-1--\r\n"));
}

}  // namespace
}  // namespace firn::ports
