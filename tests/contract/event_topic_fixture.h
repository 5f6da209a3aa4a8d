// SPDX-License-Identifier: Apache-2.0
//
// The topics that the suite runs on, and how messages come into them.
//
// Guarantees: a topic of one partition, empty at first, with one broker that can be stopped.
// Threads: one owner.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ports/event_topic.h"

namespace firn::contract {

class TopicStore {
 public:
  virtual ~TopicStore() = default;
  virtual std::unique_ptr<ports::EventTopic> Open(const std::string& group) = 0;
  /// On disk when it returns.
  virtual void Append(ports::HttpHeaders headers, std::string body) = 0;
  virtual void SetUp(bool is_up) = 0;
};

struct TopicCase {
  std::string name;
  std::function<std::unique_ptr<TopicStore>()> make;
};

std::vector<TopicCase> TopicCases();

}  // namespace firn::contract
