// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/configuration.h"

namespace firn::service {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(ConfigurationFile, KafkaSection_KeepsTheLibrarysNames) {
  ConfigurationTree tree;
  const Status read = ReadConfigurationText(
      "f.yaml", "firn: {kafka: {brokers: 'a:1', topics: [x, y], sasl: {password: p}, ssl.ca.pem: q}}", tree);
  ASSERT_TRUE(read) << ToString(read.error());
  EXPECT_EQ(
      tree.own,
      (ports::Properties{
          {"kafka.brokers", "a:1"}, {"kafka.topics", "x,y"}, {"kafka.sasl.password", "p"}, {"kafka.ssl.ca.pem", "q"}}));
}

TEST(ConfigurationFile, KafkaSection_OfAnotherShape_IsRefusedWithoutItsValues) {
  for (const char* text : {"firn: {kafka: hunter2}", "firn: {kafka: {brokers: [hunter2]}}",
                           "firn: {kafka: {topics: [[hunter2]]}}", "firn: {kafka: {a: 1, A: hunter2}}"}) {
    ConfigurationTree tree;
    const Status read = ReadConfigurationText("f.yaml", text, tree);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr("firn.kafka"));
    EXPECT_THAT(read.error().message, Not(HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace firn::service
