// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "format/json/json.h"
#include "ports/kafka_topic.h"

namespace firn::ports {
namespace {

const json::Value& MemberOf(const json::Value& object, std::string_view name) {
  static const json::Value kNone;
  const json::Value* member = object.Find(name);
  return member != nullptr ? *member : kNone;
}

std::int64_t NumberOf(const json::Value& object, std::string_view name) {
  return MemberOf(object, name).AsInt64().value_or(0);
}

}  // namespace

Result<TopicState> ParseKafkaStatistics(std::string_view text) {
  FIRN_ASSIGN(const json::Value statistics, json::Parse(text));
  TopicState state;
  for (const auto& [name, broker] : MemberOf(statistics, "brokers").members()) {
    const std::string* word = MemberOf(broker, "state").AsString();
    state.is_up |= word != nullptr && *word == "UP";
  }
  for (const auto& [name, topic] : MemberOf(statistics, "topics").members()) {
    for (const auto& [number, partition] : MemberOf(topic, "partitions").members()) {
      // -1 is what no broker knows yet.
      state.lag += std::max<std::int64_t>(0, NumberOf(partition, "consumer_lag"));
    }
  }
  state.partitions = NumberOf(MemberOf(statistics, "cgrp"), "assignment_size");
  return state;
}

}  // namespace firn::ports
