// SPDX-License-Identifier: Apache-2.0
//
// Topics of a Kafka cluster as a source of messages.
//
// In: brokers, topics, a group, and properties of librdkafka. Out: the port.
// Guarantees: those of event_topic.h. About 16 MiB of messages and one fetch wait in memory at most, unless the
//   properties say otherwise. Names of properties may be shown, their values never are: not in messages, not in logs.
//   Closing takes no longer than `session.timeout.ms` (6 s) and a little, also while no broker answers.
// Cost: threads and connections of librdkafka: one of each a broker, and one more thread. Threads: as of the port.
// Errors: Open: kInvalidArgument naming the property. Brokers that do not answer are no error.
// Source: librdkafka 2.0 CONFIGURATION.md, STATISTICS.md.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ports/event_topic.h"
#include "ports/properties.h"

namespace firn::ports {

struct KafkaOptions {
  std::string brokers = {};  // "host:port,host:port"
  std::vector<std::string> topics = {};
  std::string group = "firn";
  /// By librdkafka's names ("security.protocol"). Those that firn depends on are refused.
  Properties properties = {};
};

Result<std::unique_ptr<EventTopic>> OpenKafkaTopic(const KafkaOptions& options);

/// From the statistics that librdkafka makes; the trouble is left empty.
Result<TopicState> ParseKafkaStatistics(std::string_view json);

}  // namespace firn::ports
