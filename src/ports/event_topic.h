// SPDX-License-Identifier: Apache-2.0
//
// A log of messages on other machines, read by one of a named group of readers: a Kafka topic.
//
// In: the wish for the next message. Out: messages of each partition in order; the state of the connection.
// Guarantees: a message that was not Done() comes again to a later reader of the group; one that was Done() may do so
//   too, after a crash. A group that has never read begins behind what is there already. Servers that cannot be reached
//   are no error: nothing comes, state() says why, and it is tried again. What has not been taken takes bounded memory.
// Cost: that of the adapter. Threads: Take() and Done() from one, state() from any.
// Errors: none but those of opening; troubles are in state().
// Source: Apache Kafka's consumer groups.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ports/http.h"

namespace firn::ports {

/// As of messages over HTTP.
inline constexpr std::size_t kMessageBytesMax = 1 << 20;

struct TopicMessage {
  std::string topic = {};
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  /// Names in lower case.
  HttpHeaders headers = {};
  std::string body = {};
  /// Larger than kMessageBytesMax, body and headers together: neither is there.
  bool is_too_large = false;
};

struct TopicState {
  bool is_up = false;
  /// What is wrong, for people; empty when nothing is known to be.
  std::string trouble = {};
  std::int64_t partitions = 0;
  /// Messages that are there and not read; absent as long as the servers have not told.
  std::optional<std::int64_t> lag = {};
  bool operator==(const TopicState&) const = default;
};

class EventTopic {
 public:
  virtual ~EventTopic() = default;
  /// Waits up to `wait_ms`; nothing where there is none.
  virtual std::optional<TopicMessage> Take(std::int64_t wait_ms) = 0;
  /// This message, and all before it in its partition, need not come again.
  virtual void Done(const TopicMessage& message) = 0;
  virtual TopicState state() const = 0;
};

}  // namespace firn::ports
