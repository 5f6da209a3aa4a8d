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

std::int64_t NumberOf(const json::Value& object, std::string_view name, std::int64_t fallback) {
  return MemberOf(object, name).AsInt64().value_or(fallback);
}

/// Negative: no broker has told. The library's own figure is not there before the first message is read.
std::int64_t LagOf(const json::Value& partition) {
  const std::int64_t lag = NumberOf(partition, "consumer_lag", -1);
  const std::int64_t end = NumberOf(partition, "hi_offset", -1);
  const std::int64_t next = NumberOf(partition, "next_offset", -1);
  if (lag >= 0 || end < 0 || next < 0) return lag;
  return std::max<std::int64_t>(0, end - next) + NumberOf(partition, "fetchq_cnt", 0);
}

}  // namespace

Result<TopicState> ParseKafkaStatistics(std::string_view text) {
  FIRN_ASSIGN(const json::Value statistics, json::Parse(text));
  TopicState state;
  std::int64_t lag = 0;
  std::int64_t told = 0;
  for (const auto& [name, broker] : MemberOf(statistics, "brokers").members()) {
    const std::string* word = MemberOf(broker, "state").AsString();
    state.is_up |= word != nullptr && *word == "UP";
  }
  for (const auto& [name, topic] : MemberOf(statistics, "topics").members()) {
    for (const auto& [number, partition] : MemberOf(topic, "partitions").members()) {
      const std::int64_t one = LagOf(partition);
      if (number == "-1" || one < 0) continue;
      lag += one;
      ++told;
    }
  }
  state.partitions = NumberOf(MemberOf(statistics, "cgrp"), "assignment_size", 0);
  if (state.partitions > 0 && told >= state.partitions) state.lag = lag;
  return state;
}

}  // namespace firn::ports
