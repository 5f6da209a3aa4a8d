// SPDX-License-Identifier: Apache-2.0
//
// Thrift's binary protocol: calls to bytes, bytes of a stream to replies.
//
// In: a method's name and its arguments; bytes as they come. Out: one message; one reply as a tree.
// Guarantees: no length and no count is believed: memory grows with the bytes that really came, and neither they nor
//   the number of values and the depth of the tree pass the limits. A reply that was read may leave bytes behind: then
//   the stream is no longer in step, which the caller is told.
// Cost: one pass. Threads: pure.
// Errors: kCorrupt (what and where), kLimit, and those of the source.
// Source: Apache Thrift, "Thrift Binary protocol encoding", strict messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/byte_io.h"
#include "base/bytes.h"
#include "base/result.h"
#include "format/thrift/thrift_value.h"

namespace firn::thrift {

struct Limits {
  std::uint64_t bytes_max = 64ULL << 20;
  int depth_max = 64;
  std::uint64_t values_max = 2'000'000;  // a byte may become a value of a hundred
};

enum class Answer : std::uint8_t { kReply = 2, kException = 3 };

struct Reply {
  Answer kind = Answer::kReply;
  std::string method;
  std::int32_t sequence = 0;
  /// Field 0 is what was returned, others are exceptions of the method; of kException: 1 text, 2 kind.
  Value result;
  /// Bytes came that belong to no reply.
  bool has_leftovers = false;
};

Bytes EncodeCall(std::string_view method, std::int32_t sequence, const Value& arguments);

/// Reads one message. kUnavailable, or what the source says, when the bytes end before the message does.
Result<Reply> DecodeReply(SequentialSource& source, Limits limits);

}  // namespace firn::thrift
