// SPDX-License-Identifier: Apache-2.0
#include "ports/memory_topic.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ascii.h"

namespace firn::ports {

void MemoryTopicLog::Append(HttpHeaders headers, std::string body) {
  std::size_t bytes = body.size();
  for (auto& [name, value] : headers) {
    bytes += name.size() + value.size();
    name = AsciiLower(name);
  }
  const std::lock_guard lock(mutex_);
  TopicMessage message{.topic = "events", .offset = static_cast<std::int64_t>(messages_.size())};
  message.is_too_large = bytes > kMessageBytesMax;
  if (!message.is_too_large) {
    message.headers = std::move(headers);
    message.body = std::move(body);
  }
  messages_.push_back(std::move(message));
  changed_.notify_all();
}

void MemoryTopicLog::SetUp(bool is_up) {
  const std::lock_guard lock(mutex_);
  is_up_ = is_up;
  changed_.notify_all();
}

std::int64_t MemoryTopicLog::offset_of(const std::string& group) const {
  const std::lock_guard lock(mutex_);
  const auto found = groups_.find(group);
  return found == groups_.end() ? 0 : found->second;
}

MemoryTopic::MemoryTopic(std::shared_ptr<MemoryTopicLog> log, std::string group)
    : log_(std::move(log)), group_(std::move(group)) {
  const std::lock_guard lock(log_->mutex_);
  next_ = log_->groups_.try_emplace(group_, static_cast<std::int64_t>(log_->messages_.size())).first->second;
}

std::optional<TopicMessage> MemoryTopic::Take(std::int64_t wait_ms) {
  std::unique_lock lock(log_->mutex_);
  const auto has_one = [this] { return log_->is_up_ && next_ < static_cast<std::int64_t>(log_->messages_.size()); };
  if (!log_->changed_.wait_for(lock, std::chrono::milliseconds(wait_ms), has_one)) return std::nullopt;
  return log_->messages_[static_cast<std::size_t>(next_++)];
}

void MemoryTopic::Done(const TopicMessage& message) {
  const std::lock_guard lock(log_->mutex_);
  log_->groups_[group_] = message.offset + 1;
}

TopicState MemoryTopic::state() const {
  const std::lock_guard lock(log_->mutex_);
  TopicState state{.is_up = log_->is_up_, .partitions = 1};
  if (!log_->is_up_) state.trouble = "no broker answers";
  state.lag = static_cast<std::int64_t>(log_->messages_.size()) - next_;
  return state;
}

}  // namespace firn::ports
