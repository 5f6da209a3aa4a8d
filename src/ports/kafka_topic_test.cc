// SPDX-License-Identifier: Apache-2.0
#include "ports/kafka_topic.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn::ports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string ErrorOf(Properties properties, KafkaOptions options = {.brokers = "127.0.0.1:1", .topics = {"t"}}) {
  options.properties = std::move(properties);
  const auto opened = OpenKafkaTopic(options);
  if (opened) return "";
  EXPECT_EQ(opened.error().code, Code::kInvalidArgument);
  return opened.error().message;
}

TEST(KafkaTopic, SecurityProperties_GoToTheLibrary) {
  EXPECT_EQ(ErrorOf({{"security.protocol", "SASL_PLAINTEXT"},
                     {"sasl.mechanisms", "SCRAM-SHA-512"},
                     {"sasl.username", "u"},
                     {"sasl.password", "p"}}),
            "");
  EXPECT_EQ(ErrorOf({{"security.protocol", "SSL"}, {"enable.ssl.certificate.verification", "false"}}), "");
}

TEST(KafkaTopic, Mistakes_NameThePropertyAndNeverItsValue) {
  const std::string secret = "s3cr3t";
  for (const char* name : {"sasl.pasword", "security.protocol", "ssl.key.pem", "sasl.mechanism.x", "session.timeout.ms",
                           "ssl.endpoint.identification.algorithm"}) {
    Properties properties = {{"security.protocol", "SSL"}};
    properties[name] = secret;
    const std::string message = ErrorOf(properties);
    EXPECT_THAT(message, Not(HasSubstr(secret))) << name;
    EXPECT_NE(message, "") << name;
  }
  EXPECT_THAT(ErrorOf({{"sasl.pasword", secret}}), HasSubstr("`sasl.pasword` is no property"));
  EXPECT_THAT(ErrorOf({{"security.protocol", secret}}), HasSubstr("`security.protocol`"));
}

TEST(KafkaTopic, WhatFirnDecides_IsRefused) {
  for (const char* name : {"bootstrap.servers", "metadata.broker.list", "group.id", "enable.auto.offset.store",
                           "enable.auto.commit", "auto.commit.enable", "plugin.library.paths", "ssl.engine.location",
                           "ssl.engine.id", "ssl.providers", "sasl.kerberos.kinit.cmd"}) {
    EXPECT_THAT(ErrorOf({{name, "true"}}), HasSubstr(std::string("`") + name + "` cannot be set")) << name;
  }
}

TEST(KafkaTopic, WhatIsMissing_IsSaid) {
  EXPECT_THAT(ErrorOf({}, {.topics = {"t"}}), HasSubstr("brokers"));
  EXPECT_THAT(ErrorOf({}, {.brokers = "b:1"}), HasSubstr("topic"));
  EXPECT_THAT(ErrorOf({}, {.brokers = "b:1", .topics = {"t"}, .group = ""}), HasSubstr("group"));
  EXPECT_THAT(ErrorOf({}, {.brokers = "b:1", .topics = {""}}), HasSubstr("topics"));
}

TEST(KafkaStatistics, BrokersPartitionsAndLag_AreRead) {
  const auto state = ParseKafkaStatistics(R"({"name": "firn#consumer-1", "brokers": {
      "a:9092/bootstrap": {"nodeid": -1, "state": "DOWN"}, "a:9092/1": {"nodeid": 1, "state": "UP"}},
    "topics": {"t": {"partitions": {"0": {"consumer_lag": 7}, "1": {"consumer_lag": 5}, "-1": {"consumer_lag": -1}}}},
    "cgrp": {"state": "up", "assignment_size": 2}})");
  ASSERT_TRUE(state);
  EXPECT_EQ(*state, (TopicState{.is_up = true, .partitions = 2, .lag = 12}));
  // One of two partitions has not told yet; then it has, and nothing of it has been read.
  const auto lag = [](std::string_view second) {
    return ParseKafkaStatistics(fmt::format(R"({{"topics": {{"t": {{"partitions": {{"0": {{"consumer_lag": 7}},
        "1": {{"consumer_lag": -1{}}}}}}}}}, "cgrp": {{"assignment_size": 2}}}})",
                                            second))
        ->lag;
  };
  EXPECT_EQ(lag(""), std::nullopt);
  EXPECT_EQ(lag(R"(, "hi_offset": -1001, "next_offset": 0)"), std::nullopt);
  EXPECT_EQ(lag(R"(, "hi_offset": 36000, "next_offset": 40, "fetchq_cnt": 40)"), 36'007);
  EXPECT_EQ(*ParseKafkaStatistics(R"({"brokers": {"a": {"state": "TRY_CONNECT"}}})"), TopicState{});
  EXPECT_FALSE(ParseKafkaStatistics("{"));
}

}  // namespace
}  // namespace firn::ports
