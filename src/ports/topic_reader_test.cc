// SPDX-License-Identifier: Apache-2.0
#include "ports/topic_reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>

#include "base/check.h"
#include "ports/memory_topic.h"

namespace firn::ports {
namespace {

bool Within(const std::function<bool()>& holds, std::int64_t ms = 20'000) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(ms);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

class TopicReaderTest : public testing::Test {
 protected:
  std::unique_ptr<TopicReader> Start(TopicReaderOptions options = {}) {
    auto started = TopicReader::Start(std::make_unique<MemoryTopic>(log_, "g"), queue_, clock_, std::move(options));
    FIRN_CHECK(started);
    return std::move(*started);
  }
  void Tell(const std::string& table) { log_->Append({}, R"({"catalog": "c", "table": "db.)" + table + "\"}"); }

  std::shared_ptr<MemoryTopicLog> log_ = std::make_shared<MemoryTopicLog>();
  EventQueue queue_{100};
  SystemClock clock_;
};

TEST_F(TopicReaderTest, Messages_BecomeEvents_AndAreDone) {
  const auto reader = Start();
  Tell("a");
  Tell("b");
  ASSERT_TRUE(Within([&] { return reader->counts().messages == 2; }));
  const auto events = queue_.Take(10, 0);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(TableText(events[0]), "c/db.a");
  EXPECT_EQ(events[0].source, TableEvent::Source::kKafka);
  EXPECT_EQ(log_->offset_of("g"), 2);
}

TEST_F(TopicReaderTest, WhatCannotBeRead_IsCountedAndSkipped) {
  const auto reader = Start();
  log_->Append({}, "rubbish");
  log_->Append({}, std::string(kMessageBytesMax + 1, 'x'));
  log_->Append({}, R"({"Event": "s3:TestEvent"})");
  log_->Append({}, "");
  Tell("a");
  ASSERT_TRUE(Within([&] { return reader->counts().messages == 5; }));
  EXPECT_EQ(reader->counts().malformed, 3);
  EXPECT_EQ(reader->counts().ignored, 1);
  EXPECT_EQ(reader->counts().events, 1);
  EXPECT_EQ(queue_.Take(10, 0).size(), 1U);
  EXPECT_EQ(log_->offset_of("g"), 5) << "it does not come again";
}

TEST_F(TopicReaderTest, Flood_ComesInAtTheRate) {
  const auto reader = Start({.events_rate = {.per_second = 100, .burst = 10}});
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 60; ++i) Tell("t" + std::to_string(i));
  ASSERT_TRUE(Within([&] { return reader->counts().messages == 60; }));
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(450));
  EXPECT_EQ(queue_.counts().dropped, 0);
}

TEST_F(TopicReaderTest, FullQueue_LeavesTheRestInTheTopic) {
  const auto reader = Start({.queue_fill_max = 5});
  for (int i = 0; i < 20; ++i) Tell("t" + std::to_string(i));
  ASSERT_TRUE(Within([&] { return queue_.size() == 5; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_EQ(queue_.size(), 5U);
  EXPECT_EQ(log_->offset_of("g"), 5);
  std::size_t taken = 0;
  ASSERT_TRUE(Within([&] { return (taken += queue_.Take(100, 0).size()) == 20; }));
}

TEST_F(TopicReaderTest, Outage_IsToldAndEnds) {
  log_->SetUp(false);
  const auto reader = Start();
  Tell("a");
  EXPECT_FALSE(reader->state().is_up);
  EXPECT_FALSE(reader->state().trouble.empty());
  log_->SetUp(true);
  ASSERT_TRUE(Within([&] { return reader->counts().messages == 1; }));
  EXPECT_TRUE(reader->state().is_up);
}

TEST_F(TopicReaderTest, Stop_IsQuickWhileTheQueueIsFull) {
  auto reader = Start({.queue_fill_max = 1});
  Tell("a");
  Tell("b");
  ASSERT_TRUE(Within([&] { return queue_.size() == 1; }));
  const auto start = std::chrono::steady_clock::now();
  reader.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
  EXPECT_EQ(log_->offset_of("g"), 1);
}

}  // namespace
}  // namespace firn::ports
