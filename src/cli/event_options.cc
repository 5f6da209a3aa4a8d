// SPDX-License-Identifier: Apache-2.0
#include "cli/event_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <utility>

namespace firn::cli {
namespace {

constexpr std::string_view kSection = "kafka.";

/// Topics of "a, b".
std::vector<std::string> Listed(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto end = text.find(',');
    std::string_view name = text.substr(0, end);
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.empty()) names.emplace_back(name);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return names;
}

/// Takes what is firn's own out of the section.
struct Section {
  ports::Properties rest;

  std::string Own(const std::string& name, const std::string& flag, std::string_view fallback, std::string_view about,
                  std::vector<service::SettingRow>& shown) {
    const auto found = rest.extract(name);
    const bool is_set = !found.empty() && !found.mapped().empty();
    std::string value = !flag.empty() ? flag : is_set ? found.mapped() : std::string(fallback);
    if (!value.empty()) {
      shown.push_back({"kafka." + name, value,
                       !flag.empty() ? "flag"
                       : is_set      ? "file"
                                     : "default",
                       std::string(about)});
    }
    return value;
  }
};

}  // namespace

void AddEventTopicOptions(CLI::App& command, EventTopicFlags& flags) {
  constexpr const char* kGroup = "Events from Kafka";
  command.add_option("--kafka", flags.brokers, "Brokers from which events come: HOST:PORT,HOST:PORT")->group(kGroup);
  command.add_option("--kafka-topic", flags.topics, "Topic of events; may be repeated")
      ->allow_extra_args(false)
      ->group(kGroup);
  command.add_option("--kafka-group", flags.group, "Group of consumers")->default_str("firn")->group(kGroup);
  command
      .add_option("--kafka-format", flags.format,
                  "auto, metrics-report, cloudevents, s3 or webhook: what the messages are")
      ->default_str("auto")
      ->group(kGroup);
  command.add_option("--kafka-catalog", flags.catalog, "Catalog of events that name none")->group(kGroup);
}

Result<std::optional<EventTopicOptions>> ReadEventTopicOptions(const EventTopicFlags& flags,
                                                               const ports::Properties& settings) {
  Section section;
  for (const auto& [name, value] : settings) {
    if (name.starts_with(kSection)) section.rest.emplace(name.substr(kSection.size()), value);
  }
  const bool has_flags = !flags.brokers.empty() || !flags.topics.empty() || !flags.group.empty() ||
                         !flags.format.empty() || !flags.catalog.empty();
  if (!has_flags && section.rest.empty()) return std::optional<EventTopicOptions>();
  EventTopicOptions made;
  made.kafka.brokers = section.Own("brokers", flags.brokers, "", "Where events are taken from", made.shown);
  const std::string topics = fmt::format("{}", fmt::join(flags.topics, ","));
  made.kafka.topics = Listed(section.Own("topics", topics, "", "Topics of events", made.shown));
  made.kafka.group = section.Own("group", flags.group, "firn", "Group of consumers", made.shown);
  const std::string word = section.Own("format", flags.format, "auto", "What the messages are", made.shown);
  FIRN_ASSIGN(made.reading.format,
              ports::ParseMessageFormat(word).In(flags.format.empty() ? "firn.kafka.format" : "--kafka-format"));
  made.reading.catalog = section.Own("catalog", flags.catalog, "", "Catalog of events that name none", made.shown);
  if (made.kafka.brokers.empty()) {
    return Error{Code::kInvalidArgument, "--kafka HOST:PORT, or firn.kafka.brokers, is missing"};
  }
  if (made.kafka.topics.empty()) {
    return Error{Code::kInvalidArgument, "--kafka-topic TOPIC, or firn.kafka.topics, is missing"};
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : section.rest) names.push_back(name);
  if (!names.empty()) {
    made.shown.push_back({"kafka.properties", fmt::format("{}", fmt::join(names, ", ")), "file",
                          "Names of what is given to librdkafka; the values are hidden"});
  }
  made.kafka.properties = std::move(section.rest);
  return std::optional(std::move(made));
}

Status CheckEventTopicSettings(const ports::Properties& settings) {
  const std::string* word = ports::FindFirstProperty(settings, {"kafka.format"});
  if (word != nullptr) FIRN_TRY(ports::ParseMessageFormat(*word).In("firn.kafka.format"));
  return Ok();
}

std::vector<service::Metric> MetricsOf(const ports::TopicReader& reader) {
  const ports::TopicCounts counts = reader.counts();
  const ports::TopicState state = reader.state();
  const auto made = [](const char* name, const char* about, bool counter, std::int64_t value) {
    return service::Metric{.name = name, .about = about, .counter = counter, .value = static_cast<double>(value)};
  };
  return {
      made("firn_kafka_up", "Whether a broker of the topic of events is connected.", false, state.is_up ? 1 : 0),
      made("firn_kafka_partitions", "Partitions from which events are read.", false, state.partitions),
      made("firn_kafka_lag_messages", "Messages of those partitions that are not read yet.", false, state.lag),
      made("firn_kafka_messages_total", "Messages that were read.", true, counts.messages),
      made("firn_kafka_events_total", "Events in those messages.", true, counts.events),
      made("firn_kafka_messages_ignored_total", "Messages that are not about a table.", true, counts.ignored),
      made("firn_kafka_messages_malformed_total", "Messages that could not be read, and were skipped.", true,
           counts.malformed),
  };
}

}  // namespace firn::cli
