// SPDX-License-Identifier: Apache-2.0
//
// One TCP connection to a Hive Metastore: a call goes out, its reply comes back.
//
// In: host and port; a method with its arguments. Out: the reply's struct.
// Guarantees: a call is sent once. The error says what became of it: kUnavailable when the server has not got the
//   whole call, which it then cannot have begun, kOutcomeUnknown when it has and the reply did not come. After
//   an error the connection is of no use any more.
// Cost: a call is one round trip. Threads: one call at a time.
// Errors: kUnavailable, kOutcomeUnknown, kInvalidArgument (what is answered is no Thrift). Nothing waits longer than
//   the two limits, of which the addresses of a host share the first; only the look-up of its name takes as long as the
//   system's resolver does. When the program ends, a connection is waited for kReadGraceMs more (ports/http.h), an
//   answer as long as its call says.
// Source: Apache Thrift, binary protocol on a plain socket, as hive.metastore.thrift.compact.protocol.enabled and
//   hive.metastore.thrift.framed.transport.enabled are when nobody sets them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "format/thrift/binary_protocol.h"
#include "ports/posix.h"

namespace firn::ports {

struct HiveAddress {
  std::string host;
  std::string port;
};

class HiveConnection {
 public:
  struct Options {
    int connect_timeout_ms = 10'000;
    int call_timeout_ms = 60'000;
    const std::atomic<bool>* stop = nullptr;  // true: the program ends; borrowed, may be null
  };
  static Result<std::unique_ptr<HiveConnection>> Open(const HiveAddress& address, Options options);

  /// `grace_ms`: how long the answer is waited for when the program ends. kLimit: it is too large.
  Result<thrift::Reply> Call(std::string_view method, const thrift::Value& arguments, std::int64_t grace_ms);
  /// False after a fault, and when the server has closed the connection or sent what nobody asked for.
  bool IsIdle() const;
  const std::string& place() const { return place_; }

 private:
  HiveConnection(FileDescriptor socket, std::string place, Options options)
      : socket_(std::move(socket)), place_(std::move(place)), options_(options) {}

  FileDescriptor socket_;
  std::string place_;
  Options options_;
  std::int32_t sequence_ = 0;
  bool is_good_ = true;
};

}  // namespace firn::ports
