// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "ports/http.h"

namespace firn::ports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Takes connections on loopback and answers each request with what a function says.
/// An empty answer closes the connection.
class LoopbackServer {
 public:
  using Answer = std::function<std::string(int number, const std::string& request)>;
  explicit LoopbackServer(Answer answer, bool keep = false) : answer_(std::move(answer)), keep_(keep) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    EXPECT_EQ(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this] { Serve(); });
  }
  ~LoopbackServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int requests() const { return requests_; }
  int connections() const { return connections_; }

 private:
  void Serve() {
    std::vector<std::jthread> threads;
    while (true) {
      const int connection = ::accept(listener_, nullptr, nullptr);
      if (connection < 0) break;
      ++connections_;
      {
        const std::lock_guard lock(mutex_);
        open_.push_back(connection);
      }
      threads.emplace_back([this, connection] { Talk(connection); });
    }
    const std::lock_guard lock(mutex_);
    for (const int connection : open_) ::shutdown(connection, SHUT_RDWR);
  }
  void Talk(int connection) {
    std::string request;
    while (Read(connection, request)) {
      const std::string answer = answer_(++requests_, request);
      if (answer.empty()) break;
      (void)!::send(connection, answer.data(), answer.size(), MSG_NOSIGNAL);  // who asked may be gone
      if (!keep_) break;
      request.clear();
    }
    const std::lock_guard lock(mutex_);
    std::erase(open_, connection);
    ::close(connection);
  }
  static bool Read(int connection, std::string& request) {
    char buffer[4096];
    while (true) {
      const std::size_t head = request.find("\r\n\r\n");
      if (head != std::string::npos) {
        const std::size_t at = request.find("Content-Length: ");
        const std::size_t body = at == std::string::npos ? 0 : std::strtoull(request.c_str() + at + 16, nullptr, 10);
        if (request.size() >= head + 4 + body) return true;
      }
      const ssize_t count = ::read(connection, buffer, sizeof buffer);
      if (count <= 0) return false;
      request.append(buffer, static_cast<std::size_t>(count));
    }
  }

  Answer answer_;
  bool keep_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> requests_ = 0, connections_ = 0;
  std::mutex mutex_;
  std::vector<int> open_;
  std::jthread thread_;
};

std::string Response(const std::string& status, const std::string& headers, const std::string& body) {
  return "HTTP/1.1 " + status + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

class CurlHttpTest : public testing::Test {
 protected:
  std::shared_ptr<Http> http_ = MakeCurlHttp({.user_agent = "firn-test",
                                              .connect_timeout_ms = 2000,
                                              .ca_bundle_path = "",
                                              .client_certificate_path = "",
                                              .client_key_path = ""})
                                    .value();
};

TEST_F(CurlHttpTest, Send_PostAndGet_CarryEverything) {
  std::string seen;
  LoopbackServer server([&](int, const std::string& request) {
    seen = request;
    return Response("201 Created", "X-Mixed-Case:  some value \r\nEmpty:\r\n", "body\x01");
  });
  const auto posted = http_->Send({.method = "POST",
                                   .url = server.url() + "/a?b=c",
                                   .headers = {{"X-A", "1"}, {"X-B", ""}},
                                   .body = std::string("x\0y", 3)});
  ASSERT_TRUE(posted) << ToString(posted.error());
  EXPECT_EQ(posted->status, 201);
  EXPECT_EQ(posted->body, "body\x01");
  EXPECT_EQ(*FindHeader(*posted, "x-mixed-case"), "some value");
  EXPECT_EQ(*FindHeader(*posted, "empty"), "");
  EXPECT_EQ(FindHeader(*posted, "none"), nullptr);
  EXPECT_THAT(seen, testing::StartsWith("POST /a?b=c HTTP/1.1\r\n"));
  EXPECT_THAT(seen, HasSubstr("User-Agent: firn-test\r\n"));
  EXPECT_THAT(seen, HasSubstr("X-A: 1\r\n"));
  EXPECT_THAT(seen, HasSubstr("X-B:"));
  EXPECT_THAT(seen, Not(HasSubstr("Expect:")));
  EXPECT_TRUE(seen.ends_with(std::string("x\0y", 3)));

  const auto got = http_->Send({.url = server.url()});
  ASSERT_TRUE(got);
  EXPECT_THAT(seen, testing::StartsWith("GET / HTTP/1.1\r\n"));
}

TEST_F(CurlHttpTest, Send_PathWithDots_StaysAsItIs) {
  std::string seen;
  LoopbackServer server([&](int, const std::string& request) {
    seen = request;
    return Response("200 OK", "", "");
  });
  ASSERT_TRUE(http_->Send({.url = server.url() + "/bucket/a/../b/./c"}));
  EXPECT_THAT(seen, testing::StartsWith("GET /bucket/a/../b/./c HTTP/1.1\r\n"));
}

TEST_F(CurlHttpTest, Send_NobodyListens_WasNotSent) {
  std::string url;
  {
    LoopbackServer server([](int, const std::string&) { return ""; });
    url = server.url();
  }
  for (const char* method : {"GET", "POST"}) {
    const auto sent = http_->Send({.method = method, .url = url + "/x?token=hunter2"});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, Code::kUnavailable) << ToString(sent.error());
    EXPECT_THAT(sent.error().message, Not(HasSubstr("hunter2")));
  }
  const auto no_name = http_->Send({.method = "POST", .url = "http://name.invalid/"});
  ASSERT_FALSE(no_name);
  EXPECT_EQ(no_name.error().code, Code::kUnavailable);
  EXPECT_EQ(http_->Send({.url = "not a url"}).error().code, Code::kInvalidArgument);
  EXPECT_EQ(http_->Send({.url = "file:///etc/passwd"}).error().code, Code::kInvalidArgument);
}

TEST_F(CurlHttpTest, Send_ConnectionClosedAfterTheRequest_IsUnknownAndSentOnce) {
  LoopbackServer server([](int, const std::string&) { return ""; });
  const auto sent = http_->Send({.method = "POST", .url = server.url(), .body = "commit"});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::kOutcomeUnknown) << ToString(sent.error());
  EXPECT_EQ(server.requests(), 1);
}

TEST_F(CurlHttpTest, Send_PostOverAKeptConnectionThatDies_IsNotRepeated) {
  LoopbackServer server([](int number, const std::string&) { return number % 2 ? Response("200 OK", "", "{}") : ""; },
                        /*keep=*/true);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(http_->Send({.url = server.url()}));
    const auto sent = http_->Send({.method = "POST", .url = server.url(), .body = "commit"});
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, Code::kOutcomeUnknown);
    EXPECT_EQ(server.requests(), 2 * (i + 1)) << "one request a call";
  }
}

TEST_F(CurlHttpTest, Send_RepeatableOverAKeptConnectionThatDies_IsSentAgain) {
  LoopbackServer server([](int number, const std::string&) { return number == 3 ? "" : Response("200 OK", "", "{}"); },
                        /*keep=*/true);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(http_->Send({.method = "PUT", .url = server.url(), .body = "part", .is_repeatable = true})) << i;
  }
  EXPECT_EQ(server.requests(), 4);
  EXPECT_EQ(server.connections(), 2);
}

TEST_F(CurlHttpTest, Send_CutAnswer_IsUnknown_ButNotOfWhatOnlyReads) {
  LoopbackServer server(
      [](int, const std::string&) { return "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half"; });
  EXPECT_EQ(http_->Send({.method = "POST", .url = server.url()}).error().code, Code::kOutcomeUnknown);
  EXPECT_EQ(http_->Send({.method = "GET", .url = server.url()}).error().code, Code::kUnavailable);
  EXPECT_EQ(http_->Send({.method = "POST", .url = server.url(), .is_read_only = true}).error().code,
            Code::kUnavailable);
}

TEST_F(CurlHttpTest, Send_NoAnswerInTime_IsUnknown) {
  LoopbackServer server([](int, const std::string&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    return "";
  });
  const auto sent = http_->Send({.method = "POST", .url = server.url(), .timeout_ms = 100});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::kOutcomeUnknown);
}

TEST_F(CurlHttpTest, Send_AnswerTooLarge_IsLimit) {
  LoopbackServer server([](int, const std::string&) { return Response("200 OK", "", std::string(5000, 'x')); });
  const auto sent = http_->Send({.method = "POST", .url = server.url(), .body_max_bytes = 4999});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::kLimit);
  EXPECT_TRUE(http_->Send({.method = "POST", .url = server.url(), .body_max_bytes = 5000}));
}

TEST_F(CurlHttpTest, Send_Redirect_IsFollowedForGetOnly) {
  LoopbackServer server([](int, const std::string& request) {
    if (request.find(" /target ") != std::string::npos) return Response("200 OK", "", "there");
    return Response("307 Temporary Redirect", "Location: /target\r\n", "");
  });
  EXPECT_EQ(http_->Send({.url = server.url()})->body, "there");
  EXPECT_EQ(http_->Send({.method = "POST", .url = server.url(), .body = "x"})->status, 307);
}

TEST_F(CurlHttpTest, Send_RedirectToAnotherServer_TakesNoCredentialsAlong) {
  std::string seen;
  LoopbackServer other([&](int, const std::string& request) {
    seen = request;
    return Response("200 OK", "", "there");
  });
  LoopbackServer server([&](int, const std::string&) {
    return Response("307 Temporary Redirect", "Location: " + other.url() + "/target\r\n", "");
  });
  const HttpHeaders headers = {{"Accept", "application/json"},
                               {"Authorization", "Bearer hunter2"},
                               {"X-Amz-Security-Token", "hunter2"},
                               {"X-Api-Key", "hunter2"}};
  EXPECT_EQ(http_->Send({.url = server.url(), .headers = headers})->body, "there");
  EXPECT_THAT(seen, HasSubstr("Accept: application/json"));
  EXPECT_THAT(seen, Not(HasSubstr("hunter2")));
  LoopbackServer itself([&](int, const std::string& request) {
    seen = request;
    const bool is_target = request.find(" /target ") != std::string::npos;
    return is_target ? Response("200 OK", "", "there") : Response("302 Found", "Location: /target\r\n", "");
  });
  EXPECT_EQ(http_->Send({.url = itself.url(), .headers = headers})->body, "there");
  EXPECT_THAT(seen, HasSubstr("X-Api-Key: hunter2"));
}

TEST_F(CurlHttpTest, Send_RedirectLoopOrOtherProtocol_Ends) {
  LoopbackServer loop([](int, const std::string&) { return Response("302 Found", "Location: /again\r\n", ""); });
  EXPECT_FALSE(http_->Send({.url = loop.url()}));
  EXPECT_LE(loop.requests(), 6);
  LoopbackServer other(
      [](int, const std::string&) { return Response("302 Found", "Location: file:///etc/passwd\r\n", ""); });
  EXPECT_FALSE(http_->Send({.url = other.url()}));
}

TEST_F(CurlHttpTest, Send_HeaderWithLineBreak_IsRefused) {
  const auto sent = http_->Send({.url = "http://127.0.0.1:1", .headers = {{"X", "a\r\nEvil: 1"}}});
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, Code::kInvalidArgument);
}

TEST_F(CurlHttpTest, Send_ServerErrors_AreAnswers) {
  LoopbackServer server([](int, const std::string&) { return Response("503 Busy", "Retry-After: 3\r\n", "later"); });
  const auto sent = http_->Send({.method = "POST", .url = server.url()});
  ASSERT_TRUE(sent);
  EXPECT_EQ(sent->status, 503);
  EXPECT_EQ(*FindHeader(*sent, "retry-after"), "3");
}

TEST_F(CurlHttpTest, Send_Garbage_IsAnErrorNotACrash) {
  for (const char* answer :
       {"garbage\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "\x16\x03\x01\x02"}) {
    LoopbackServer server([&](int, const std::string&) { return answer; });
    const auto sent = http_->Send({.method = "POST", .url = server.url(), .timeout_ms = 1000});
    ASSERT_FALSE(sent) << answer;
    EXPECT_EQ(sent.error().code, Code::kOutcomeUnknown) << ToString(sent.error());
  }
}

TEST_F(CurlHttpTest, Send_FromManyThreads_Works) {
  LoopbackServer server([](int, const std::string&) { return Response("200 OK", "", "{}"); });
  std::atomic<int> good = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int k = 0; k < 20; ++k) {
        const auto sent = http_->Send({.method = (i + k) % 2 ? "GET" : "POST", .url = server.url()});
        if (sent && sent->body == "{}") ++good;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(good, 160);
}

TEST(UrlEncodeTest, EveryByteButPlainOnes) {
  EXPECT_EQ(UrlEncode("aZ9-._~"), "aZ9-._~");
  EXPECT_EQ(UrlEncode("a b/c%+é\x1f"), "a%20b%2Fc%25%2B%C3%A9%1F");
  EXPECT_EQ(FormEncode({{"a", "1&2"}, {"b c", ""}}), "a=1%262&b%20c=");
}

TEST(CurlHttpStop, WhatOnlyReads_IsGivenUp_AndWhatChangesIsWaitedFor) {
  std::atomic<bool> stop = false, answers = false;
  LoopbackServer server([&](int, const std::string& request) {
    if (request.starts_with("POST /change")) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3 * kReadGraceMs));
    } else {
      answers.wait(false);
    }
    return Response("200 OK", "", "done");
  });
  HttpOptions options;
  options.stop = &stop;
  const auto http = MakeCurlHttp(options).value();
  const auto wanted = [&](const char* method, const char* path, bool is_read_only) {
    return http->Send({.method = method, .url = server.url() + path, .is_read_only = is_read_only});
  };
  std::jthread ends([&] {
    while (server.requests() < 3) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop = true;
  });
  Result<HttpResponse> changed = Error{Code::kInternal, ""}, token = changed;
  std::jthread changes([&] { changed = wanted("POST", "/change", false); });
  std::jthread asks([&] { token = wanted("POST", "/token", true); });
  const auto begin = std::chrono::steady_clock::now();
  const auto read = wanted("GET", "/read", false);
  asks.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  changes.join();
  answers = true;
  answers.notify_all();
  for (const Result<HttpResponse>* given_up : {&read, static_cast<const Result<HttpResponse>*>(&token)}) {
    ASSERT_FALSE(*given_up);
    EXPECT_EQ(given_up->error().code, Code::kUnavailable) << "reading can be done again";
    EXPECT_THAT(given_up->error().message, HasSubstr("given up, as the program ends"));
  }
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->body, "done");
}

}  // namespace
}  // namespace firn::ports
