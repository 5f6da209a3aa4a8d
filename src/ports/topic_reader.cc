// SPDX-License-Identifier: Apache-2.0
#include "ports/topic_reader.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "base/log.h"
#include "base/threads.h"

namespace firn::ports {
namespace {

constexpr std::int64_t kWaitMs = 200;
constexpr std::int64_t kPauseMs = 20;
/// Nobody is served by the same line over and over.
constexpr std::int64_t kLogEveryMs = 30'000;
constexpr double kWithoutHint = 0.1;

Result<ParsedEvents> Parse(const MessageReading& reading, const TopicMessage& message) {
  if (message.is_too_large) return Error{Code::kLimit, fmt::format("more than {} bytes", kMessageBytesMax)};
  try {
    return ParseEventMessage(reading, message.headers, message.body);
  } catch (const std::exception& fault) {
    // Memory that is used up ends this message, not the service.
    return Error{Code::kInternal, fault.what()};
  }
}

}  // namespace

TopicReader::TopicReader(std::unique_ptr<EventTopic> topic, EventQueue& queue, Clock& clock, TopicReaderOptions options)
    : topic_(std::move(topic)), queue_(queue), clock_(clock), options_(std::move(options)) {}

TopicReader::~TopicReader() { stopping_ = true; }

Result<std::unique_ptr<TopicReader>> TopicReader::Start(std::unique_ptr<EventTopic> topic, EventQueue& queue,
                                                        Clock& clock, TopicReaderOptions options) {
  std::unique_ptr<TopicReader> reader(new TopicReader(std::move(topic), queue, clock, std::move(options)));
  FIRN_ASSIGN(reader->thread_, StartThread([self = reader.get()] { self->Run(); }).In("the reading of the topic"));
  return reader;
}

TopicCounts TopicReader::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void TopicReader::Run() {
  RateBucket bucket(options_.events_rate, NowMs());
  while (!stopping_) {
    WaitForRoom(bucket);
    if (stopping_) return;
    const auto message = topic_->Take(kWaitMs);
    if (message) Take(*message, bucket);
    NoteState();
  }
}

void TopicReader::WaitForRoom(RateBucket& bucket) {
  const std::int64_t start_ms = NowMs();
  while (!stopping_) {
    const std::int64_t now_ms = NowMs();
    const bool has_room = queue_.size() < options_.queue_fill_max || now_ms - start_ms >= kQueuePatienceMs;
    if (bucket.Has(now_ms) && has_room) return;
    clock_.SleepMs(kPauseMs);
  }
}

void TopicReader::Take(const TopicMessage& message, RateBucket& bucket) {
  Result<ParsedEvents> parsed = Parse(options_.reading, message);
  const std::size_t event_count = parsed ? parsed->events.size() : 0;
  if (parsed) {
    for (TableEvent& event : parsed->events) queue_.Push(std::move(event));
  } else {
    NoteMalformed(message, parsed.error().message);
  }
  topic_->Done(message);
  bucket.Take(event_count == 0 ? kWithoutHint : static_cast<double>(event_count));
  const std::lock_guard lock(mutex_);
  ++counts_.messages;
  counts_.events += static_cast<std::int64_t>(event_count);
  counts_.malformed += parsed ? 0 : 1;
  counts_.ignored += parsed && event_count == 0 ? 1 : 0;
}

void TopicReader::NoteMalformed(const TopicMessage& message, const std::string& reason) {
  ++malformed_not_logged_;
  const std::int64_t now_ms = NowMs();
  if (malformed_logged_ms_ != 0 && now_ms - malformed_logged_ms_ < kLogEveryMs) return;
  malformed_logged_ms_ = now_ms;
  Log(LogLevel::kWarn,
      fmt::format("topic {}: message {} of partition {} is skipped: {}; {} skipped since the last such line",
                  message.topic, message.offset, message.partition, reason, std::exchange(malformed_not_logged_, 0)));
}

/// The first state at once; then changes, with a pause between them.
void TopicReader::NoteState() {
  const TopicState state = topic_->state();
  if (was_logged_ && state.is_up == logged_.is_up && state.trouble == logged_.trouble) return;
  const bool is_fine = state.is_up && state.trouble.empty();
  if (!was_logged_ && !is_fine && state.trouble.empty()) return;  // it is still being connected
  const std::int64_t now_ms = NowMs();
  if (was_logged_ && now_ms - state_logged_ms_ < kLogEveryMs) return;
  const bool was_fine = !was_logged_ || (logged_.is_up && logged_.trouble.empty());
  const std::string text = is_fine                 ? "it can be reached"
                           : state.trouble.empty() ? "it cannot be reached"
                                                   : state.trouble;
  // What ends a trouble that was told is told as loudly.
  Log(is_fine && was_fine ? LogLevel::kInfo : LogLevel::kWarn, "kafka: " + text);
  logged_ = state;
  was_logged_ = true;
  state_logged_ms_ = now_ms;
}

}  // namespace firn::ports
