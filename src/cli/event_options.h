// SPDX-License-Identifier: Apache-2.0
//
// The topic from which the service takes events: flags, and the section `firn.kafka` of the configuration.
//
// In: flags and firn's own settings ("kafka.brokers", ...). Out: what opens the topic and reads its messages; what is
//   shown of it.
// Guarantees: flags win over the configuration. Names in the section that are not firn's go to librdkafka; their values
//   are never shown.
// Errors: kInvalidArgument naming the flag or setting. Threads: pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ports/directory_watch.h"
#include "ports/event_message.h"
#include "ports/kafka_topic.h"
#include "ports/properties.h"
#include "ports/topic_reader.h"
#include "service/fleet_rows.h"

namespace CLI {
class App;
}

namespace firn::cli {

/// Absent is what was not given, which is something else than an empty word.
struct EventTopicFlags {
  std::optional<std::string> brokers = {};
  std::vector<std::string> topics = {};
  std::optional<std::string> group = {};
  std::optional<std::string> format = {};
  std::optional<std::string> catalog = {};
  bool is_shadow = false;  // beside the service that acts, and must not take its events
};
void AddEventTopicOptions(CLI::App& command, EventTopicFlags& flags);

struct EventTopicOptions {
  ports::KafkaOptions kafka = {};
  ports::MessageReading reading = {};
  std::vector<service::SettingRow> shown = {};
  std::string catalog_origin = {};  // flag or setting that names reading.catalog
};
/// Nothing where neither flags nor settings speak of a topic.
Result<std::optional<EventTopicOptions>> ReadEventTopicOptions(const EventTopicFlags& flags,
                                                               const ports::Properties& settings);
/// Whether the catalog of events that name none is one of those that are served.
Status CheckEventCatalog(const EventTopicOptions& options, const std::vector<std::string>& served);
/// What can be checked without the flags.
Status CheckEventTopicSettings(const ports::Properties& settings);

std::vector<service::Metric> MetricsOf(const ports::TopicReader& reader);
/// Of watched folders, by their names.
std::vector<service::Metric> MetricsOf(const std::map<std::string, ports::DirectoryWatchCounts>& folders);

}  // namespace firn::cli
