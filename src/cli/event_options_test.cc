// SPDX-License-Identifier: Apache-2.0
#include "cli/event_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace firn::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

TEST(EventOptions, NothingIsSaid_NothingIsRead) {
  const auto read = ReadEventTopicOptions({}, {{"memory", "1GB"}});
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->has_value());
}

TEST(EventOptions, File_SaysAll_AndTheRestGoesToTheLibrary) {
  const auto read = ReadEventTopicOptions({}, {{"kafka.brokers", "a:1,b:2"},
                                               {"kafka.topics", "one, two"},
                                               {"kafka.format", "cloudevents"},
                                               {"kafka.catalog", "lake"},
                                               {"kafka.sasl.password", "s3cr3t"},
                                               {"kafka.ssl.key.pem", "s3cr3t"}});
  ASSERT_TRUE(read);
  const EventTopicOptions& options = **read;
  EXPECT_EQ(options.kafka.brokers, "a:1,b:2");
  EXPECT_THAT(options.kafka.topics, ElementsAre("one", "two"));
  EXPECT_EQ(options.kafka.group, "firn");
  EXPECT_EQ(options.reading.format, ports::MessageFormat::kCloudEvents);
  EXPECT_EQ(options.reading.catalog, "lake");
  EXPECT_THAT(options.kafka.properties, ElementsAre(Pair("sasl.password", "s3cr3t"), Pair("ssl.key.pem", "s3cr3t")));
  std::string shown;
  for (const auto& row : options.shown) shown += row.key + "=" + row.value + " (" + row.source + ")\n";
  EXPECT_THAT(shown, HasSubstr("kafka.brokers=a:1,b:2 (file)"));
  EXPECT_THAT(shown, HasSubstr("kafka.group=firn (default)"));
  EXPECT_THAT(shown, HasSubstr("kafka.properties=sasl.password, ssl.key.pem"));
  EXPECT_THAT(shown, Not(HasSubstr("s3cr3t")));
}

TEST(EventOptions, Flags_WinOverTheFile) {
  const auto read =
      ReadEventTopicOptions({.brokers = "c:3", .topics = {"x", "y"}, .group = "g", .format = "s3"},
                            {{"kafka.brokers", "a:1"}, {"kafka.topics", "one"}, {"kafka.format", "webhook"}});
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)->kafka.brokers, "c:3");
  EXPECT_THAT((*read)->kafka.topics, ElementsAre("x", "y"));
  EXPECT_EQ((*read)->kafka.group, "g");
  EXPECT_EQ((*read)->reading.format, ports::MessageFormat::kStorage);
  EXPECT_TRUE((*read)->kafka.properties.empty());
}

TEST(EventOptions, CatalogOfEvents_IsOneThatIsServed) {
  const auto read = ReadEventTopicOptions({.brokers = "a:1", .topics = {"t"}, .catalog = "nope"}, {});
  ASSERT_TRUE(read);
  const Status checked = CheckEventCatalog(**read, {"lake", "sea"});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().message, "--kafka-catalog: catalog `nope` is not served, only: lake, sea");
  EXPECT_TRUE(CheckEventCatalog(**read, {"nope"}));
  EXPECT_TRUE(CheckEventCatalog({}, {"lake"}));
}

TEST(EventOptions, Shadow_HasAGroupOfItsOwn_UnlessAFlagSaysWhich) {
  const auto group = [](std::optional<std::string> flag, const ports::Properties& settings) {
    const auto read = ReadEventTopicOptions(
        {.brokers = "a:1", .topics = {"t"}, .group = std::move(flag), .is_shadow = true}, settings);
    return read ? (*read)->kafka.group : read.error().message;
  };
  EXPECT_EQ(group(std::nullopt, {}), "firn-shadow");
  EXPECT_EQ(group(std::nullopt, {{"kafka.group", "lake"}}), "lake-shadow");
  EXPECT_EQ(group("firn", {}), "firn");
}

TEST(EventOptions, Mistakes_NameWhatIsWrong) {
  const auto message = [](const EventTopicFlags& flags, const ports::Properties& settings) {
    const auto read = ReadEventTopicOptions(flags, settings);
    return read ? std::string() : read.error().message;
  };
  EXPECT_THAT(message({.topics = {"t"}}, {}), HasSubstr("firn.kafka.brokers"));
  EXPECT_THAT(message({}, {{"kafka.brokers", "a:1"}}), HasSubstr("--kafka-topic"));
  EXPECT_THAT(message({.brokers = "a:1", .topics = {"t"}, .format = "avro"}, {}), HasSubstr("--kafka-format"));
  EXPECT_THAT(message({}, {{"kafka.format", "avro"}}), HasSubstr("firn.kafka.format"));
  EXPECT_THAT(message({.brokers = "", .topics = {"t"}}, {}), HasSubstr("--kafka is empty"));
  EXPECT_THAT(message({.brokers = ","}, {}), HasSubstr("--kafka names no broker"));
  for (const char* broker : {"host:99999", "host:0", "host:", "host:x", ":9092", "a:1,host:1x", "SSL://:1"}) {
    EXPECT_THAT(message({.brokers = broker, .topics = {"t"}}, {}), HasSubstr("is no HOST:PORT")) << broker;
  }
  for (const char* broker : {"host:9092", "host", "[::1]:9092", "[::1]", "SSL://host:9092", "a:1, b:2"}) {
    EXPECT_EQ(message({.brokers = broker, .topics = {"t"}}, {}), "") << broker;
  }
  EXPECT_THAT(message({.brokers = "a:1", .topics = {"t"}, .group = ""}, {}), HasSubstr("--kafka-group is empty"));
  EXPECT_THAT(message({.brokers = "a:1", .topics = {"t"}}, {{"kafka.group", ""}}), HasSubstr("firn.kafka.group"));
  EXPECT_THAT(message({.brokers = "a:1", .topics = {"^.*"}}, {}), HasSubstr("--kafka-topic: `^.*` is no name"));
  EXPECT_THAT(message({.brokers = "a:1", .topics = {"t", "u", "t"}}, {}),
              HasSubstr("--kafka-topic: `t` is given twice"));
  EXPECT_THAT(message({}, {{"kafka.brokers", "a:1"}, {"kafka.topics", "t,t"}}), HasSubstr("firn.kafka.topics: `t`"));
  EXPECT_FALSE(CheckEventTopicSettings({{"kafka.format", "avro"}}));
  EXPECT_TRUE(CheckEventTopicSettings({{"kafka.format", "s3"}, {"memory", "1GB"}}));
}

/// In a program that has all libraries, as the real one: one of them brings an OpenSSL that librdkafka must not get.
TEST(EventOptions, TopicOverTls_IsOpenedWithTheSystemsCertificates) {
  for (const char* protocol : {"SSL", "SASL_SSL"}) {
    const auto topic = ports::OpenKafkaTopic({.brokers = "127.0.0.1:1",
                                              .topics = {"t"},
                                              .properties = {{"security.protocol", protocol},
                                                             {"sasl.mechanisms", "PLAIN"},
                                                             {"sasl.username", "u"},
                                                             {"sasl.password", "p"}}});
    ASSERT_TRUE(topic) << topic.error().message;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while ((*topic)->state().trouble.empty() && std::chrono::steady_clock::now() < end) (*topic)->Take(50);
    EXPECT_FALSE((*topic)->state().is_up);
    EXPECT_NE((*topic)->state().trouble, "");
  }
}

}  // namespace
}  // namespace firn::cli
