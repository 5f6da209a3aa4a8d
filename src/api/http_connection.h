// SPDX-License-Identifier: Apache-2.0
//
// One connection of the HTTP server: what came in, what goes out, and until when.
//
// In: readable and writable sockets. Out: whole requests; bytes on the wire.
// Guarantees: never blocks; holds at most one request and its answer, or a stream's buffer.
// Errors: a broken connection is Phase::kClosed. Threads: the one that moves bytes.
// Source: RFC 9112, sections 6 and 9.6 (a close that does not lose the answer).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/http_message.h"
#include "api/http_parse.h"
#include "ports/posix.h"

namespace firn::api {

class Connection {
 public:
  enum class Phase {
    kReading,    // a request is awaited or coming in
    kHandling,   // a worker has it
    kWriting,    // its answer goes out
    kStreaming,  // the answer has no end
    kLingering,  // the answer is out; what the client still sends is thrown away
    kClosed,
  };

  Connection(ports::FileDescriptor socket, std::string client, ParseLimits limits, std::int64_t now_ms,
             std::int64_t deadline_ms)
      : parser(limits),
        socket_(std::move(socket)),
        client_(std::move(client)),
        deadline_ms_(deadline_ms),
        waits_since_ms_(now_ms) {}

  int fd() const { return socket_.get(); }
  const std::string& client() const { return client_; }
  Phase phase() const { return phase_; }
  void set_phase(Phase phase) { phase_ = phase; }
  std::int64_t deadline_ms() const { return deadline_ms_; }
  void set_deadline_ms(std::int64_t deadline_ms) { deadline_ms_ = deadline_ms; }
  bool idle() const { return phase_ == Phase::kReading && parser.empty() && output_.empty(); }
  /// Nothing goes on here but for its client; a stream is never meant.
  bool waits_for_client() const;
  /// Since when, as of the present request or answer: single bytes do not make it younger.
  std::int64_t waits_since_ms() const { return waits_since_ms_; }
  void set_waits_since_ms(std::int64_t now_ms) { waits_since_ms_ = now_ms; }
  std::size_t waiting_bytes() const { return output_.size() - written_; }
  /// What to wait for, as for poll().
  short events() const;

  /// Reads what is there, once. False: nothing more will come.
  bool Read();
  /// Writes what fits. True: something was written.
  bool Write();
  /// The answer's bytes; `keep` tells whether the connection lives on after it.
  void Answer(const Response& response, bool head_only, bool keep);
  void Append(std::string_view bytes) { output_.append(bytes); }
  bool keep() const { return keep_; }
  bool stream() const { return stream_; }
  void Close() { phase_ = Phase::kClosed; }
  /// No more is written from here.
  void StartLinger(std::int64_t deadline_ms);

  RequestParser parser;
  bool admitted = false;
  bool continued = false;
  bool head_only = false;
  bool was_served = false;  // a request before this one

 private:
  ports::FileDescriptor socket_;
  std::string client_;
  Phase phase_ = Phase::kReading;
  std::int64_t deadline_ms_;
  std::int64_t waits_since_ms_;
  std::string output_;
  std::size_t written_ = 0;
  std::size_t lingered_bytes_ = 0;
  bool keep_ = true;
  bool stream_ = false;
};

}  // namespace firn::api
