// SPDX-License-Identifier: Apache-2.0
#include "api/http_parse.h"

#include <gtest/gtest.h>

namespace firn::api {
namespace {

using State = RequestParser::State;

constexpr ParseLimits kLimits = {.head_max_bytes = 1000, .headers_max = 10, .body_max_bytes = 100};

TEST(RequestParser, ReadsARequestByteByByte) {
  RequestParser parser(kLimits);
  const std::string text =
      "POST /a%20b?x=1 HTTP/1.1\r\nHost: h\r\nContent-Type:  application/json \r\nContent-Length: 5\r\n\r\nhello";
  for (std::size_t i = 0; i + 1 < text.size(); ++i) ASSERT_NE(parser.Feed(text.substr(i, 1)), State::kBroken);
  ASSERT_EQ(parser.Feed(text.substr(text.size() - 1)), State::kComplete);
  EXPECT_EQ(parser.request().method, "POST");
  EXPECT_EQ(parser.request().path, "/a%20b");
  EXPECT_EQ(parser.request().query, "x=1");
  EXPECT_EQ(*FindHeader(parser.request().headers, "content-type"), "application/json");
  EXPECT_EQ(parser.request().body, "hello");
  EXPECT_TRUE(parser.keep_alive());
}

TEST(RequestParser, KeepsTheNextRequestForLater) {
  RequestParser parser(kLimits);
  ASSERT_EQ(parser.Feed("GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"),
            State::kComplete);
  EXPECT_EQ(parser.request().path, "/1");
  ASSERT_EQ(parser.Next(), State::kComplete);
  EXPECT_EQ(parser.request().path, "/2");
  EXPECT_FALSE(parser.keep_alive());
  EXPECT_EQ(parser.Next(), State::kHead);
  EXPECT_TRUE(parser.empty());
}

TEST(RequestParser, JoinsChunksAndDropsTrailers) {
  RequestParser parser(kLimits);
  ASSERT_EQ(parser.Feed("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nLater: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\n\r\n"),
            State::kComplete);
  EXPECT_EQ(parser.request().body, "hello world");
  EXPECT_EQ(parser.Next(), State::kComplete);
  EXPECT_EQ(parser.request().path, "/2");
}

struct Bad {
  const char* name;
  std::string bytes;
  int status;
};

class RequestParserRefuses : public testing::TestWithParam<Bad> {};

TEST_P(RequestParserRefuses, WithTheStatus) {
  RequestParser parser(kLimits);
  parser.Feed(GetParam().bytes);
  ASSERT_EQ(parser.state(), State::kBroken) << GetParam().name;
  EXPECT_EQ(parser.problem().status, GetParam().status) << parser.problem().message;
  EXPECT_EQ(parser.Feed("GET / HTTP/1.1\r\nHost: h\r\n\r\n"), State::kBroken);
}

std::string Post(const std::string& headers, const std::string& body = "") {
  return "POST / HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n" + body;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, RequestParserRefuses,
    testing::Values(
        Bad{"noise", "\x16\x03\x01\r\n\r\n", 400}, Bad{"version", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
        Bad{"no host", "GET / HTTP/1.1\r\n\r\n", 400},
        Bad{"absolute", "GET http://h/ HTTP/1.1\r\nHost: h\r\n\r\n", 400},
        Bad{"space in target", "GET /a b HTTP/1.1\r\nHost: h\r\n\r\n", 400},
        Bad{"space before colon", Post("A : b\r\n"), 400}, Bad{"folded", Post("A: b\r\n c\r\n"), 400},
        Bad{"bare line feed", Post("A: b\nC: d\r\n"), 400},
        Bad{"nul", std::string("GET /\0 HTTP/1.1\r\nHost: h\r\n\r\n", 30), 400},
        Bad{"two lengths", Post("Content-Length: 1\r\nContent-Length: 1\r\n"), 400},
        Bad{"length and chunks", Post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 400},
        Bad{"two hosts", Post("Host: i\r\n"), 400}, Bad{"negative", Post("Content-Length: -1\r\n"), 400},
        Bad{"plus", Post("Content-Length: +1\r\n"), 400}, Bad{"empty", Post("Content-Length:\r\n"), 400},
        Bad{"huge", Post("Content-Length: 99999999999999999999\r\n"), 400},
        Bad{"large", Post("Content-Length: 101\r\n"), 413}, Bad{"gzip", Post("Transfer-Encoding: gzip\r\n"), 501},
        Bad{"chunks large", Post("Transfer-Encoding: chunked\r\n", "60\r\n" + std::string(96, 'x') + "\r\n5\r\n"), 413},
        Bad{"chunk huge", Post("Transfer-Encoding: chunked\r\n", "ffffffffffffffff\r\n"), 413},
        Bad{"chunk size", Post("Transfer-Encoding: chunked\r\n", "-1\r\n"), 400},
        Bad{"chunk line", Post("Transfer-Encoding: chunked\r\n", std::string(100, '0')), 400},
        Bad{"chunk end", Post("Transfer-Encoding: chunked\r\n", "1\r\nabc"), 400},
        Bad{"line without end", "GET /" + std::string(2000, 'a'), 431},
        Bad{"head without end", Post("A: " + std::string(2000, 'a')), 431},
        Bad{"many headers",
            Post("A: 1\r\nB: 1\r\nC: 1\r\nD: 1\r\nE: 1\r\nF: 1\r\nG: 1\r\nH: 1\r\nI: 1\r\nJ: 1\r\nK: 1\r\n"), 431}),
    [](const testing::TestParamInfo<Bad>& param) {
      std::string name = param.param.name;
      for (char& c : name) c = c == ' ' ? '_' : c;
      return name;
    });

TEST(MediaType, IsWithoutParametersInLowerCase) {
  EXPECT_EQ(MediaType("Application/JSON ; charset=utf-8"), "application/json");
  EXPECT_EQ(MediaType(""), "");
}

}  // namespace
}  // namespace firn::api
