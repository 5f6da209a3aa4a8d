// SPDX-License-Identifier: Apache-2.0
//
// A log of messages in memory, with groups of readers: the twin of Kafka for tests.
//
// In: messages of a test. Out: what readers of the port see.
// Guarantees: those of event_topic.h; one reader of a group at a time.
// Cost: every message is kept. Threads: any. Errors: none.
// Source: event_topic.h.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ports/event_topic.h"

namespace firn::ports {

class MemoryTopicLog {
 public:
  void Append(HttpHeaders headers, std::string body);
  /// While it is down nothing can be taken.
  void SetUp(bool is_up);
  std::int64_t offset_of(const std::string& group) const;

 private:
  friend class MemoryTopic;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_up_ = true;
  std::vector<TopicMessage> messages_;
  std::map<std::string, std::int64_t> groups_;  // the next one to read
};

class MemoryTopic final : public EventTopic {
 public:
  MemoryTopic(std::shared_ptr<MemoryTopicLog> log, std::string group);
  std::optional<TopicMessage> Take(std::int64_t wait_ms) override;
  void Done(const TopicMessage& message) override;
  TopicState state() const override;

 private:
  const std::shared_ptr<MemoryTopicLog> log_;
  const std::string group_;
  std::int64_t next_ = 0;
};

}  // namespace firn::ports
