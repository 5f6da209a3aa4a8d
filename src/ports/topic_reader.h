// SPDX-License-Identifier: Apache-2.0
//
// Moves the messages of a topic as hints into the queue of events.
//
// In: a topic, and how its messages are read. Out: events in a queue; counts; log lines when the state changes.
// Guarantees: a message is Done() when its events are in the queue. One that cannot be read is counted, skipped, and
//   never comes again. Hints come in no faster than `events_rate`, and not while `queue_fill_max` of them wait in the
//   queue (at most kQueuePatienceMs for one message): what is too much stays in the topic. A message without a hint
//   counts as a tenth of one. The destructor returns when the reading has ended.
// Cost: one thread. Threads: any.
// Errors: kLimit: the thread cannot be started; troubles of the topic are in state().
// Source: docs/service.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/rate_bucket.h"
#include "ports/clock.h"
#include "ports/event_message.h"
#include "ports/event_source.h"
#include "ports/event_topic.h"

namespace firn::ports {

inline constexpr std::int64_t kQueuePatienceMs = 60'000;

struct TopicReaderOptions {
  MessageReading reading = {};
  Rate events_rate = {.per_second = 1'000, .burst = 5'000};
  std::size_t queue_fill_max = 50'000;
};

struct TopicCounts {
  std::int64_t messages = 0;
  std::int64_t events = 0;
  /// Messages that are well-formed and not about a table.
  std::int64_t ignored = 0;
  /// Messages that cannot be read, too large ones among them.
  std::int64_t malformed = 0;
};

class TopicReader {
 public:
  /// Keeps references to queue and clock.
  static Result<std::unique_ptr<TopicReader>> Start(std::unique_ptr<EventTopic> topic, EventQueue& queue, Clock& clock,
                                                    TopicReaderOptions options);
  ~TopicReader();
  /// Nothing more is taken from the topic; does not wait.
  void EndReading() { stopping_ = true; }
  TopicCounts counts() const;
  TopicState state() const { return topic_->state(); }

 private:
  TopicReader(std::unique_ptr<EventTopic> topic, EventQueue& queue, Clock& clock, TopicReaderOptions options);
  void Run();
  void WaitForRoom(RateBucket& bucket);
  void Take(const TopicMessage& message, RateBucket& bucket);
  void NoteState();
  void NoteMalformed(const TopicMessage& message, const std::string& reason);
  std::int64_t NowMs() { return clock_.MonotonicNs() / 1'000'000; }

  const std::unique_ptr<EventTopic> topic_;
  EventQueue& queue_;
  Clock& clock_;
  const TopicReaderOptions options_;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;
  TopicCounts counts_;
  // Of the thread alone.
  TopicState logged_;
  bool was_logged_ = false;
  std::int64_t state_logged_ms_ = 0;
  std::int64_t malformed_logged_ms_ = 0;
  std::int64_t malformed_not_logged_ = 0;
  std::jthread thread_;  // the last one, so that it ends first
};

}  // namespace firn::ports
