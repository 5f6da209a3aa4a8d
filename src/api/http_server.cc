// SPDX-License-Identifier: Apache-2.0
#include "api/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "api/crowd.h"
#include "api/http_connection.h"
#include "api/listen_socket.h"
#include "base/threads.h"

namespace firn::api {
namespace {

constexpr std::int64_t kLingerMs = 2'000;
constexpr std::int64_t kNever = std::int64_t{1} << 62;
/// Connections that one round takes in, so that those that are there get their turn.
constexpr int kAcceptedAtOnce = 64;

std::int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Response ProblemResponse(const Problem& problem) {
  return {.status = problem.status,
          .body = fmt::format(R"({{"error": {{"code": "invalid argument", "message": "{}"}}}})", problem.message)};
}

class PollServer final : public HttpServer {
 public:
  PollServer(ServerOptions options, std::shared_ptr<RequestHandler> handler, ListenSocket listener,
             ports::FileDescriptor wake)
      : options_(std::move(options)),
        handler_(std::move(handler)),
        listener_(std::move(listener)),
        wake_(std::move(wake)) {}
  ~PollServer() override { Stop(); }
  Status Begin();

  int port() const override { return listener_.port; }
  void Broadcast(std::string_view text) override;
  ServerCounts counts() const override;
  void Stop() override;

 private:
  struct Job {
    ConnectionId id;
    Request request;
  };
  struct Answered {
    ConnectionId id;
    Response response;
  };

  void Work(std::deque<Job>& jobs);
  void Enqueue(ConnectionId id, Connection& connection, std::int64_t now_ms);
  void Wake();
  void MoveBytes();
  void PollOnce();
  void Accept();
  void TakeAnswers();
  void Serve(ConnectionId id, Connection& connection, short events, std::int64_t now_ms);
  void Progress(ConnectionId id, Connection& connection, std::int64_t now_ms);
  void Wrote(ConnectionId id, Connection& connection, std::int64_t now_ms);
  void CheckTime(Connection& connection, std::int64_t now_ms);
  void Send(Connection& connection, const Response& response, bool keep, std::int64_t now_ms);

  const ServerOptions options_;
  const std::shared_ptr<RequestHandler> handler_;
  const ListenSocket listener_;
  const ports::FileDescriptor wake_;
  Connections connections_;  // of the mover alone
  ConnectionId next_id_ = 1;
  std::int64_t accept_again_ms_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable work_;
  std::deque<Job> jobs_;
  std::deque<Job> quick_jobs_;
  std::vector<Answered> answered_;
  std::string broadcast_;
  ServerCounts counts_;
  std::atomic<bool> stopping_ = false;
  std::vector<std::jthread> threads_;
};

Status PollServer::Begin() {
  std::vector<std::function<void()>> works(static_cast<std::size_t>(options_.worker_count), [this] { Work(jobs_); });
  works.emplace_back([this] { Work(quick_jobs_); });
  works.emplace_back([this] { MoveBytes(); });
  for (std::function<void()>& work : works) {
    FIRN_ASSIGN(threads_.emplace_back(), StartThread(std::move(work)).In("the server of the API"));
  }
  return Ok();
}

void PollServer::Wake() {
  const std::uint64_t one = 1;
  // A full counter wakes as well.
  [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof one);
}

void PollServer::Broadcast(std::string_view text) {
  {
    const std::lock_guard lock(mutex_);
    broadcast_.append(text);
  }
  Wake();
}

ServerCounts PollServer::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void PollServer::Stop() {
  if (stopping_.exchange(true)) return;
  {
    const std::lock_guard lock(mutex_);
    work_.notify_all();
  }
  Wake();
  threads_.clear();  // joins them
}

void PollServer::Work(std::deque<Job>& jobs) {
  while (true) {
    std::unique_lock lock(mutex_);
    work_.wait(lock, [&] { return stopping_ || !jobs.empty(); });
    if (stopping_) return;
    Job job = std::move(jobs.front());
    jobs.pop_front();
    lock.unlock();
    Response response = handler_->Handle(job.request);
    lock.lock();
    answered_.push_back({job.id, std::move(response)});
    lock.unlock();
    Wake();
  }
}

void PollServer::MoveBytes() {
  while (!stopping_) PollOnce();
  connections_.clear();
}

void PollServer::PollOnce() {
  std::vector<pollfd> polled = {{wake_.get(), POLLIN, 0}};
  std::vector<ConnectionId> ids;
  std::int64_t now_ms = NowMs();
  std::int64_t until_ms = now_ms + 1'000;
  const bool accepting = now_ms >= accept_again_ms_;
  polled.push_back({accepting ? listener_.socket.get() : -1, POLLIN, 0});
  for (auto& [id, connection] : connections_) {
    polled.push_back({connection.fd(), connection.events(), 0});
    ids.push_back(id);
    until_ms = std::min(until_ms, connection.deadline_ms());
  }
  const int wait_ms = static_cast<int>(std::clamp<std::int64_t>(until_ms - now_ms, 0, 1'000));
  if (::poll(polled.data(), polled.size(), wait_ms) < 0 && errno != EINTR) return;
  if ((polled[0].revents & POLLIN) != 0) {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t read = ::read(wake_.get(), &count, sizeof count);
  }
  now_ms = NowMs();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    Serve(ids[i], connections_.at(ids[i]), polled[i + 2].revents, now_ms);
  }
  TakeAnswers();
  std::erase_if(connections_, [](const auto& item) { return item.second.phase() == Connection::Phase::kClosed; });
  if ((polled[1].revents & POLLIN) != 0) Accept();
  const std::lock_guard lock(mutex_);
  counts_.connections = static_cast<std::int64_t>(connections_.size());
  counts_.streams = std::count_if(connections_.begin(), connections_.end(), [](const auto& item) {
    return item.second.phase() == Connection::Phase::kStreaming || item.second.stream();
  });
}

void PollServer::Accept() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const std::int64_t now_ms = NowMs();
    const bool full = connections_.size() >= options_.connections_max;
    const auto least_missed = full ? LeastMissed(connections_) : connections_.end();
    if (full && least_missed == connections_.end()) {
      accept_again_ms_ = now_ms + 100;
      return;
    }
    std::string client;
    ports::FileDescriptor socket = AcceptClient(listener_, client);
    if (!socket.valid()) {
      if (errno == EMFILE || errno == ENFILE) accept_again_ms_ = now_ms + 100;
      return;
    }
    if (full) {
      const bool was_slow = !least_missed->second.idle() || !least_missed->second.was_served;
      connections_.erase(least_missed);
      const std::lock_guard lock(mutex_);
      counts_.crowded_out += was_slow;
    }
    connections_.try_emplace(next_id_++, std::move(socket), std::move(client), options_.limits, now_ms,
                             now_ms + options_.head_timeout_ms);
  }
}

void PollServer::Serve(ConnectionId id, Connection& connection, short events, std::int64_t now_ms) {
  using Phase = Connection::Phase;
  if ((events & (POLLERR | POLLNVAL)) != 0) return connection.Close();
  if ((events & (POLLIN | POLLHUP)) != 0 && connection.phase() != Phase::kHandling &&
      connection.phase() != Phase::kWriting) {
    const bool was_idle = connection.idle();
    if (!connection.Read()) return connection.Close();
    if (was_idle && !connection.idle()) {
      connection.set_deadline_ms(now_ms + options_.head_timeout_ms);
      connection.set_waits_since_ms(now_ms);
    }
    if (connection.phase() == Phase::kReading) Progress(id, connection, now_ms);
  }
  if (connection.waiting_bytes() > 0) Wrote(id, connection, now_ms);
  CheckTime(connection, now_ms);
}

void PollServer::Progress(ConnectionId id, Connection& connection, std::int64_t now_ms) {
  using State = RequestParser::State;
  RequestParser& parser = connection.parser;
  if (parser.state() == State::kBroken) {
    {
      const std::lock_guard lock(mutex_);
      ++counts_.refused;
    }
    return Send(connection, ProblemResponse(parser.problem()), false, now_ms);
  }
  if (parser.state() == State::kHead) return;
  if (!connection.admitted) {
    connection.admitted = true;
    parser.request().client = connection.client();
    connection.head_only = parser.request().method == "HEAD";
    connection.set_deadline_ms(now_ms + options_.body_timeout_ms);
    if (auto refusal = handler_->Admit(parser.request())) {
      {
        const std::lock_guard lock(mutex_);
        ++counts_.refused;
      }
      const bool whole = parser.state() == State::kComplete;
      return Send(connection, *refusal, whole && parser.keep_alive(), now_ms);
    }
  }
  if (parser.state() == State::kBody) {
    if (parser.expects_continue() && !connection.continued) {
      connection.continued = true;
      connection.Append("HTTP/1.1 100 Continue\r\n\r\n");
    }
    return;
  }
  Enqueue(id, connection, now_ms);
}

void PollServer::Enqueue(ConnectionId id, Connection& connection, std::int64_t now_ms) {
  Request& request = connection.parser.request();
  const bool is_quick = handler_->IsQuick(request);
  {
    const std::lock_guard lock(mutex_);
    std::deque<Job>& jobs = is_quick ? quick_jobs_ : jobs_;
    if (jobs.size() < options_.requests_max) {
      ++counts_.requests;
      jobs.push_back({id, std::move(request)});
      connection.set_phase(Connection::Phase::kHandling);
      connection.set_deadline_ms(kNever);
    } else {
      ++counts_.refused;
    }
  }
  if (connection.phase() == Connection::Phase::kHandling) return work_.notify_all();
  Response busy{.status = 503, .body = R"({"error": {"code": "limit", "message": "too many requests wait already"}})"};
  busy.headers.emplace_back("Retry-After", "1");
  Send(connection, busy, connection.parser.keep_alive(), now_ms);
}

void PollServer::Send(Connection& connection, const Response& response, bool keep, std::int64_t now_ms) {
  connection.Answer(response, connection.head_only, keep);
  connection.set_waits_since_ms(now_ms);
  connection.set_deadline_ms(now_ms + options_.write_timeout_ms);
}

void PollServer::TakeAnswers() {
  std::vector<Answered> answered;
  std::string broadcast;
  {
    const std::lock_guard lock(mutex_);
    answered.swap(answered_);
    broadcast.swap(broadcast_);
  }
  const std::int64_t now_ms = NowMs();
  if (!broadcast.empty()) {
    for (auto& [id, connection] : connections_) {
      if (!connection.stream()) continue;
      if (connection.waiting_bytes() + broadcast.size() > options_.stream_buffer_max_bytes) {
        connection.Close();
        const std::lock_guard lock(mutex_);
        ++counts_.streams_too_slow;
        continue;
      }
      connection.Append(broadcast);
      Wrote(id, connection, now_ms);
    }
  }
  std::size_t streams = 0;
  for (const auto& [id, connection] : connections_) streams += connection.stream() ? 1 : 0;
  for (Answered& answer : answered) {
    const auto found = connections_.find(answer.id);
    if (found == connections_.end() || found->second.phase() != Connection::Phase::kHandling) continue;
    if (answer.response.stream && ++streams > options_.streams_max) {
      answer.response = {.status = 503, .body = R"({"error": {"code": "limit", "message": "too many open streams"}})"};
    }
    Send(found->second, answer.response, found->second.parser.keep_alive(), now_ms);
    Wrote(found->first, found->second, now_ms);
  }
}

void PollServer::Wrote(ConnectionId id, Connection& connection, std::int64_t now_ms) {
  using Phase = Connection::Phase;
  if (connection.Write() && connection.phase() != Phase::kReading) {
    connection.set_deadline_ms(now_ms + options_.write_timeout_ms);
  }
  if (connection.waiting_bytes() > 0) return;
  if (connection.phase() == Phase::kStreaming) return connection.set_deadline_ms(kNever);
  if (connection.phase() != Phase::kWriting) return;
  if (connection.stream()) {
    connection.set_phase(Phase::kStreaming);
    return connection.set_deadline_ms(kNever);
  }
  if (!connection.keep()) return connection.StartLinger(now_ms + kLingerMs);
  connection.set_phase(Phase::kReading);
  connection.was_served = true;
  connection.admitted = connection.continued = connection.head_only = false;
  connection.parser.Next();
  connection.set_waits_since_ms(now_ms);
  connection.set_deadline_ms(now_ms + (connection.idle() ? options_.idle_timeout_ms : options_.head_timeout_ms));
  Progress(id, connection, now_ms);
}

void PollServer::CheckTime(Connection& connection, std::int64_t now_ms) {
  using Phase = Connection::Phase;
  if (now_ms < connection.deadline_ms() || connection.phase() == Phase::kClosed) return;
  if (connection.phase() != Phase::kReading || connection.idle()) return connection.Close();
  {
    const std::lock_guard lock(mutex_);
    ++counts_.timed_out;
  }
  Send(connection, ProblemResponse({408, "the request did not come in time"}), false, now_ms);
}

/// Half of the files that the process may have open are for its other work.
void FitToOpenFiles(ServerOptions& options) {
  constexpr std::size_t kConnectionsMin = 8;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const std::size_t half = std::max<std::size_t>(limit.rlim_cur / 2, kConnectionsMin);
  options.connections_max = std::min(options.connections_max, half);
  options.requests_max = std::max<std::size_t>(std::min(options.requests_max, options.connections_max - 1), 1);
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(ServerOptions options, std::shared_ptr<RequestHandler> handler) {
  FitToOpenFiles(options);
  FIRN_ASSIGN(ListenSocket listener, Listen(options.host, options.port));
  ports::FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake.valid()) return ports::PosixError("eventfd", "make", errno);
  auto server =
      std::make_unique<PollServer>(std::move(options), std::move(handler), std::move(listener), std::move(wake));
  FIRN_TRY(server->Begin());
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace firn::api
