// SPDX-License-Identifier: Apache-2.0
// The server over real sockets, and the clients that one would rather not have.
#include "api/http_server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "api/http_fixture.h"

namespace firn::api {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class HttpServerTest : public testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    auto started = HttpServer::Start(options, handler_);
    ASSERT_TRUE(started) << ToString(started.error());
    server_ = std::move(*started);
  }
  static std::string Get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: h\r\n\r\n"; }
  bool Eventually(const std::function<bool()>& holds) {
    for (int i = 0; i < 500; ++i) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }

  std::shared_ptr<EchoHandler> handler_ = std::make_shared<EchoHandler>();
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, OneConnectionServesManyRequestsAlsoPipelined) {
  Start();
  EXPECT_GT(server_->port(), 0);
  Client client(server_->port());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(client.Send(Get("/a")));
    EXPECT_THAT(client.Read("]"), HasSubstr("GET /a []"));
  }
  ASSERT_TRUE(client.Send("POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi" + Get("/2")));
  const std::string both = client.Read("GET /2 []");
  EXPECT_THAT(both, HasSubstr("POST /1 [hi]"));
  EXPECT_THAT(both, HasSubstr("GET /2 []"));
  EXPECT_EQ(server_->counts().requests, 5);
}

TEST_F(HttpServerTest, HeadHasNoBodyAndHeadersStayOneLine) {
  Start();
  Client client(server_->port());
  ASSERT_TRUE(client.Send("HEAD /a HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
  const std::string answer = client.Read("never", 5'000);
  EXPECT_THAT(answer, HasSubstr("Content-Length: 10\r\n"));
  EXPECT_TRUE(answer.ends_with("\r\n\r\n"));
  EXPECT_THAT(answer, HasSubstr("X-Odd: aInjected: b\r\n"));
  EXPECT_TRUE(client.ended());
}

TEST_F(HttpServerTest, WhatIsTooLargeIsRefusedWithoutBeingHeld) {
  Start({.limits = {.head_max_bytes = 2'000, .headers_max = 10, .body_max_bytes = 1'000}});
  Client large(server_->port());
  ASSERT_TRUE(large.Send("POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000000000\r\n\r\n"));
  EXPECT_THAT(large.Read("}}"), StartsWith("HTTP/1.1 413 "));
  Client endless(server_->port());
  endless.Send("GET /a HTTP/1.1\r\nA: ");
  const std::string piece(10'000, 'x');
  for (int i = 0; i < 50 && endless.Send(piece); ++i) {
  }
  EXPECT_THAT(endless.Read("}}"), StartsWith("HTTP/1.1 431 "));
  Client chunks(server_->port());
  ASSERT_TRUE(chunks.Send("POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n400\r\n" +
                          std::string(1'024, 'x')));
  EXPECT_THAT(chunks.Read("}}"), StartsWith("HTTP/1.1 413 "));
  EXPECT_EQ(handler_->handled, 0);
}

TEST_F(HttpServerTest, ARefusedBodyIsNotReadAndTheConnectionEnds) {
  Start();
  Client client(server_->port());
  ASSERT_TRUE(client.Send(
      "POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: h\r\n"));
  const std::string answer = client.Read("never");
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 "));
  EXPECT_THAT(answer, HasSubstr("Connection: close"));
  EXPECT_TRUE(client.ended());
  EXPECT_EQ(handler_->handled, 0);
}

TEST_F(HttpServerTest, SlowSendersRunOutOfTimeAndHoldNobodyUp) {
  Start({.worker_count = 1, .head_timeout_ms = 300, .body_timeout_ms = 300, .idle_timeout_ms = 400});
  std::vector<std::unique_ptr<Client>> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(std::make_unique<Client>(server_->port()));
    ASSERT_TRUE(
        slow.back()->Send(i % 2 == 0 ? "GET / HT" : "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"));
  }
  Client quick(server_->port());
  ASSERT_TRUE(quick.Send(Get("/a")));
  EXPECT_THAT(quick.Read("]", 250), HasSubstr("GET /a []"));
  for (auto& client : slow) EXPECT_THAT(client->Read("}}"), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(server_->counts().timed_out, 20);
  EXPECT_EQ(quick.Read("x", 3'000), "") << "an idle connection ends without a word";
  EXPECT_TRUE(quick.ended());
}

TEST_F(HttpServerTest, DrippingBytesDoNotExtendTheTime) {
  Start({.head_timeout_ms = 400});
  Client client(server_->port());
  const auto start = std::chrono::steady_clock::now();
  while (client.Send("G") && client.Read("408", 50).empty()) {
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(3));
}

TEST_F(HttpServerTest, WhenAllConnectionsAreTakenAnIdleOneMakesRoom) {
  Start({.connections_max = 4});
  std::vector<std::unique_ptr<Client>> idle;
  for (int i = 0; i < 4; ++i) {
    idle.push_back(std::make_unique<Client>(server_->port()));
    idle.back()->Send(Get("/a"));
    ASSERT_THAT(idle.back()->Read("]"), HasSubstr("GET /a"));
  }
  Client fifth(server_->port());
  ASSERT_TRUE(fifth.Send(Get("/b")));
  EXPECT_THAT(fifth.Read("]"), HasSubstr("GET /b []"));
  EXPECT_LE(server_->counts().connections, 4);
}

TEST_F(HttpServerTest, SlowAnswersDoNotHoldUpOthers) {
  Start({.worker_count = 2});
  Client slow(server_->port());
  Client quick(server_->port());
  ASSERT_TRUE(slow.Send(Get("/slow")));
  ASSERT_TRUE(quick.Send(Get("/quick")));
  EXPECT_THAT(quick.Read("]", 200), HasSubstr("/quick"));
  EXPECT_THAT(slow.Read("]"), HasSubstr("/slow"));
}

TEST_F(HttpServerTest, StreamsGetWhatIsBroadcastAndSlowReadersAreCutOff) {
  Start({.stream_buffer_max_bytes = 20'000});
  Client reader(server_->port());
  Client sleeper(server_->port(), 4'096);
  for (Client* client : {&reader, &sleeper}) {
    ASSERT_TRUE(client->Send(Get("/stream")));
    EXPECT_THAT(client->Read("hello\n\n"), HasSubstr("event: hello"));
  }
  ASSERT_TRUE(Eventually([&] { return server_->counts().streams == 2; }));
  server_->Broadcast("event: one\n\n");
  EXPECT_THAT(reader.Read("one\n\n"), HasSubstr("event: one"));
  const std::string text(5'000, 'x');
  std::string got;
  for (int i = 0; i < 2'000 && server_->counts().streams_too_slow == 0; ++i) {
    server_->Broadcast(text + "\n");
    got += reader.Read("\n", 1'000);
  }
  EXPECT_EQ(server_->counts().streams_too_slow, 1);
  server_->Broadcast("event: last\n\n");
  EXPECT_THAT(reader.Read("last\n\n"), HasSubstr("event: last"));
}

TEST_F(HttpServerTest, TooManyStreamsAreRefused) {
  Start({.streams_max = 2});
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(std::make_unique<Client>(server_->port()));
    ASSERT_TRUE(clients.back()->Send(Get("/stream")));
    EXPECT_THAT(clients.back()->Read(i < 2 ? "hello" : "}}"), StartsWith(i < 2 ? "HTTP/1.1 200" : "HTTP/1.1 503"));
  }
}

TEST_F(HttpServerTest, AnAddressInUseIsAConflictAndNonsenseIsRefused) {
  Start();
  const auto second = HttpServer::Start({.port = server_->port()}, handler_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kInvalidArgument);
  for (const char* host : {"nonsense", "", "256.0.0.1", "example.com"}) {
    EXPECT_EQ(HttpServer::Start({.host = host}, handler_).error().code, Code::kInvalidArgument) << host;
  }
  EXPECT_FALSE(HttpServer::Start({.port = 70'000}, handler_));
}

TEST_F(HttpServerTest, StopEndsStreamsAndReturns) {
  Start();
  Client client(server_->port());
  ASSERT_TRUE(client.Send(Get("/stream")));
  client.Read("hello");
  server_->Stop();
  client.Read("never", 2'000);
  EXPECT_TRUE(client.ended());
}

TEST(IsLoopback, OnlyWhatSurelyIs) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) EXPECT_TRUE(IsLoopback(host)) << host;
  for (const char* host : {"0.0.0.0", "::", "127.evil.example", "localhost.example", "10.0.0.1", ""})
    EXPECT_FALSE(IsLoopback(host)) << host;
}

}  // namespace
}  // namespace firn::api
