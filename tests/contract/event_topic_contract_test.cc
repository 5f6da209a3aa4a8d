// SPDX-License-Identifier: Apache-2.0
#include "contract/event_topic_fixture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace firn::contract {
namespace {

using ports::EventTopic;
using ports::TopicMessage;
using std::chrono::steady_clock;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class EventTopicContract : public testing::TestWithParam<TopicCase> {
 protected:
  EventTopicContract() : store_(GetParam().make()) {}

  static std::optional<TopicMessage> Next(EventTopic& topic) {
    const auto end = steady_clock::now() + std::chrono::seconds(40);
    while (steady_clock::now() < end) {
      if (auto message = topic.Take(100)) return message;
    }
    return std::nullopt;
  }
  /// Opens one that reads from the end on: a new group finds its place in its own time.
  std::unique_ptr<EventTopic> OpenAtEnd(const std::string& group) {
    auto topic = store_->Open(group);
    const auto end = steady_clock::now() + std::chrono::seconds(40);
    for (bool has_begun = false; !has_begun && steady_clock::now() < end;) {
      store_->Append({}, "first");
      has_begun = topic->Take(200).has_value();
    }
    std::optional<TopicMessage> last;
    while (auto message = topic->Take(700)) last = message;
    if (last) topic->Done(*last);
    return topic;
  }
  static std::vector<std::string> Bodies(EventTopic& topic, std::size_t count, bool is_done) {
    std::vector<std::string> bodies;
    while (bodies.size() < count) {
      const auto message = Next(topic);
      if (!message) break;
      bodies.push_back(message->body);
      if (is_done) topic.Done(*message);
    }
    return bodies;
  }
  static bool Becomes(EventTopic& topic, bool is_up) {
    const auto end = steady_clock::now() + std::chrono::seconds(40);
    while (topic.state().is_up != is_up && steady_clock::now() < end) topic.Take(50);
    return topic.state().is_up == is_up;
  }

  std::unique_ptr<TopicStore> store_;
};

TEST_P(EventTopicContract, Messages_ComeInOrder_WithTheirHeaders) {
  const auto topic = OpenAtEnd("g");
  store_->Append({{"Content-Type", "a/b"}, {"ce_id", ""}}, "one");
  store_->Append({}, "two");
  store_->Append({}, "");
  const auto first = Next(*topic);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->body, "one");
  EXPECT_EQ(first->topic, "events");
  EXPECT_THAT(first->headers, ElementsAre(Pair("content-type", "a/b"), Pair("ce_id", "")));
  EXPECT_THAT(Bodies(*topic, 2, true), ElementsAre("two", ""));
  EXPECT_FALSE(topic->Take(50));
}

TEST_P(EventTopicContract, State_SaysThatItReads) {
  const auto topic = OpenAtEnd("g");
  ASSERT_TRUE(Becomes(*topic, true));
  const auto end = steady_clock::now() + std::chrono::seconds(10);
  while (topic->state().lag != 0 && steady_clock::now() < end) topic->Take(50);
  EXPECT_EQ(topic->state(), (ports::TopicState{.is_up = true, .partitions = 1, .lag = 0}));
}

TEST_P(EventTopicContract, NewGroup_BeginsBehindWhatIsThere) {
  store_->Append({}, "old");
  const auto topic = store_->Open("g");
  std::vector<std::string> bodies;
  const auto end = steady_clock::now() + std::chrono::seconds(40);
  while (bodies.empty() && steady_clock::now() < end) {
    store_->Append({}, "new");
    if (auto message = topic->Take(200)) bodies.push_back(message->body);
  }
  EXPECT_THAT(bodies, ElementsAre("new"));
}

TEST_P(EventTopicContract, NewGroup_HasAPlace_BeforeItHasReadAnything) {
  store_->Append({}, "old");
  auto topic = store_->Open("g");
  const auto end = steady_clock::now() + std::chrono::seconds(40);
  while (topic->state().partitions == 0 && steady_clock::now() < end) topic->Take(50);
  store_->Append({}, "kept");
  topic.reset();
  topic = store_->Open("g");
  EXPECT_THAT(Bodies(*topic, 1, true), ElementsAre("kept"));
}

TEST_P(EventTopicContract, LaterReader_ContinuesBehindWhatWasDone) {
  auto topic = OpenAtEnd("g");
  for (const char* body : {"a", "b", "c", "d"}) store_->Append({}, body);
  EXPECT_THAT(Bodies(*topic, 2, true), ElementsAre("a", "b"));
  EXPECT_THAT(Bodies(*topic, 1, false), ElementsAre("c")) << "taken, not done";
  topic.reset();
  store_->Append({}, "e");
  topic = store_->Open("g");
  EXPECT_THAT(Bodies(*topic, 3, true), ElementsAre("c", "d", "e"));
}

TEST_P(EventTopicContract, LargeMessages_AreLeftOut_AndNothingStops) {
  const auto topic = OpenAtEnd("g");
  store_->Append({}, std::string(ports::kMessageBytesMax, 'x'));
  store_->Append({{"a", "b"}}, std::string(ports::kMessageBytesMax, 'y'));
  store_->Append({}, std::string(2 << 20, 'z'));  // the mock keeps 5 MiB
  store_->Append({}, "after");
  auto message = Next(*topic);
  ASSERT_TRUE(message);
  EXPECT_FALSE(message->is_too_large);
  EXPECT_EQ(message->body.size(), ports::kMessageBytesMax);
  for (int i = 0; i < 2; ++i) {
    message = Next(*topic);
    ASSERT_TRUE(message);
    EXPECT_TRUE(message->is_too_large);
    EXPECT_THAT(message->body, IsEmpty());
    EXPECT_THAT(message->headers, IsEmpty());
  }
  EXPECT_THAT(Bodies(*topic, 1, true), ElementsAre("after"));
}

TEST_P(EventTopicContract, Outage_IsSeen_AndReadingGoesOnAfterIt) {
  const auto topic = OpenAtEnd("g");
  ASSERT_TRUE(Becomes(*topic, true));
  store_->SetUp(false);
  ASSERT_TRUE(Becomes(*topic, false));
  EXPECT_NE(topic->state().trouble, "");
  store_->SetUp(true);
  ASSERT_TRUE(Becomes(*topic, true));
  store_->Append({}, "again");
  EXPECT_THAT(Bodies(*topic, 1, true), ElementsAre("again"));
  const auto end = steady_clock::now() + std::chrono::seconds(20);
  while (!topic->state().trouble.empty() && steady_clock::now() < end) topic->Take(50);
  EXPECT_EQ(topic->state().trouble, "");
}

TEST_P(EventTopicContract, NobodyAnswers_OpensAndClosesAllTheSame) {
  store_->SetUp(false);
  auto topic = store_->Open("g");
  EXPECT_FALSE(topic->Take(300));
  EXPECT_FALSE(topic->state().is_up);
  const auto start = steady_clock::now();
  topic.reset();
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(6));
}

TEST_P(EventTopicContract, Close_IsQuickWithMessagesWaiting) {
  auto topic = OpenAtEnd("g");
  for (int i = 0; i < 100; ++i) store_->Append({}, "x");
  ASSERT_TRUE(Next(*topic));
  const auto start = steady_clock::now();
  topic.reset();
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(6));
}

TEST_P(EventTopicContract, NobodyAnswersAnyMore_ClosesAllTheSame) {
  auto topic = OpenAtEnd("g");
  store_->Append({}, "x");
  EXPECT_THAT(Bodies(*topic, 1, true), ElementsAre("x"));
  store_->SetUp(false);
  const auto start = steady_clock::now();
  topic.reset();
  EXPECT_LT(steady_clock::now() - start, std::chrono::seconds(9)) << "the session's timeout, and a little";
}

INSTANTIATE_TEST_SUITE_P(All, EventTopicContract, testing::ValuesIn(TopicCases()),
                         [](const auto& suite) { return suite.param.name; });

}  // namespace
}  // namespace firn::contract
