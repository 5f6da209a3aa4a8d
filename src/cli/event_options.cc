// SPDX-License-Identifier: Apache-2.0
#include "cli/event_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <utility>

#include "base/ascii.h"
#include "base/text_parts.h"

namespace firn::cli {
namespace {

constexpr std::string_view kSection = "kafka.";

/// Topics of "a, b".
std::vector<std::string> Listed(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view part : Split(text, ',')) {
    if (const std::string_view name = Trimmed(part); !name.empty()) names.emplace_back(name);
  }
  return names;
}

/// One of firn's own words, and where it comes from: the name of a flag or a setting; empty: nobody has said it.
struct Word {
  std::string text, origin;
};

/// Takes what is firn's own out of the section.
struct Section {
  ports::Properties rest;
  std::vector<service::SettingRow> shown;

  Result<Word> Own(const std::string& name, const char* flag_name, const std::optional<std::string>& flag,
                   std::string_view fallback, std::string_view about) {
    const auto found = rest.extract(name);
    const bool is_set = !found.empty();
    const Word word = {flag     ? *flag
                       : is_set ? found.mapped()
                                : std::string(fallback),
                       flag     ? flag_name
                       : is_set ? "firn.kafka." + name
                                : ""};
    if (word.text.empty() && !word.origin.empty()) {
      return Error{Code::kInvalidArgument, word.origin + " is empty"};
    }
    if (!word.text.empty()) {
      shown.push_back({"kafka." + name, word.text, flag ? "flag" : is_set ? "file" : "default", std::string(about)});
    }
    return word;
  }
};

/// "HOST:PORT,HOST:PORT": the library tries a wrong one for ever, and says so only in its own log.
Status CheckBrokers(const Word& brokers) {
  const std::vector<std::string> all = Listed(brokers.text);
  if (all.empty()) return Error{Code::kInvalidArgument, brokers.origin + " names no broker"};
  for (const std::string& broker : all) {
    const std::string_view address =
        std::string_view(broker).substr(broker.find("://") == std::string::npos ? 0 : broker.find("://") + 3);
    const auto colon = address.rfind(':');
    const bool has_port = colon != std::string_view::npos && !address.ends_with(']');
    int port = has_port ? 0 : 9092;  // the library's
    if (has_port) {
      const char* end = address.data() + address.size();
      const auto read = std::from_chars(address.data() + colon + 1, end, port);
      if (read.ec != std::errc() || read.ptr != end) port = 0;
    }
    if (port >= 1 && port <= 65'535 && colon != 0 && !address.empty()) continue;
    return Error{Code::kInvalidArgument, fmt::format("{}: `{}` is no HOST:PORT", brokers.origin, broker)};
  }
  return Ok();
}

/// By Kafka's rules for names. A name that begins with "^" would be a pattern, and match topics that nobody meant.
Status CheckTopics(const Word& word, const std::vector<std::string>& topics) {
  constexpr std::size_t kNameBytesMax = 249;
  for (auto topic = topics.begin(); topic != topics.end(); ++topic) {
    const bool is_name =
        topic->size() <= kNameBytesMax && *topic != "." && *topic != ".." &&
        std::ranges::all_of(*topic, [](char c) { return IsAsciiAlphanumeric(c) || c == '.' || c == '_' || c == '-'; });
    if (!is_name) {
      return Error{Code::kInvalidArgument,
                   fmt::format("{}: `{}` is no name of a topic: letters, digits, \".\", \"_\" and \"-\"; patterns are "
                               "not taken",
                               word.origin, *topic)};
    }
    if (std::find(topics.begin(), topic, *topic) != topic) {
      return Error{Code::kInvalidArgument, fmt::format("{}: `{}` is given twice", word.origin, *topic)};
    }
  }
  return Ok();
}

/// That of the service which acts commits what it has read: another reader of its group takes events from it.
Result<std::string> GroupOf(Section& section, const EventTopicFlags& flags) {
  FIRN_ASSIGN(const Word word, section.Own("group", "--kafka-group", flags.group, "firn", "Group of consumers"));
  if (!flags.is_shadow || flags.group) return word.text;
  section.shown.back().value += "-shadow";
  return section.shown.back().value;
}

}  // namespace

void AddEventTopicOptions(CLI::App& command, EventTopicFlags& flags) {
  constexpr const char* kGroup = "Events from Kafka";
  command.add_option("--kafka", flags.brokers, "Brokers from which events come: HOST:PORT,HOST:PORT")->group(kGroup);
  command.add_option("--kafka-topic", flags.topics, "Topic of events; may be repeated")
      ->allow_extra_args(false)
      ->group(kGroup);
  command.add_option("--kafka-group", flags.group, "Group of consumers; with --shadow another one")
      ->default_str("firn")
      ->group(kGroup);
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
  const bool has_flags = flags.brokers || !flags.topics.empty() || flags.group || flags.format || flags.catalog;
  if (!has_flags && section.rest.empty()) return std::optional<EventTopicOptions>();
  EventTopicOptions made;
  FIRN_ASSIGN(const Word brokers, section.Own("brokers", "--kafka", flags.brokers, "", "Where events are taken from"));
  std::optional<std::string> given_topics;
  if (!flags.topics.empty()) given_topics = fmt::format("{}", fmt::join(flags.topics, ","));
  FIRN_ASSIGN(const Word topics, section.Own("topics", "--kafka-topic", given_topics, "", "Topics of events"));
  FIRN_ASSIGN(made.kafka.group, GroupOf(section, flags));
  FIRN_ASSIGN(const Word format,
              section.Own("format", "--kafka-format", flags.format, "auto", "What the messages are"));
  FIRN_ASSIGN(made.reading.format, ports::ParseMessageFormat(format.text).In(format.origin));
  FIRN_ASSIGN(const Word catalog,
              section.Own("catalog", "--kafka-catalog", flags.catalog, "", "Catalog of events that name none"));
  made.reading.catalog = catalog.text;
  made.catalog_origin = catalog.origin;
  if (brokers.text.empty()) {
    return Error{Code::kInvalidArgument, "--kafka HOST:PORT, or firn.kafka.brokers, is missing"};
  }
  made.kafka.brokers = brokers.text;
  FIRN_TRY(CheckBrokers(brokers));
  made.kafka.topics = Listed(topics.text);
  if (made.kafka.topics.empty()) {
    return Error{Code::kInvalidArgument, "--kafka-topic TOPIC, or firn.kafka.topics, is missing"};
  }
  FIRN_TRY(CheckTopics(topics, made.kafka.topics));
  std::vector<std::string> names;
  for (const auto& [name, value] : section.rest) names.push_back(name);
  if (!names.empty()) {
    section.shown.push_back({"kafka.properties", fmt::format("{}", fmt::join(names, ", ")), "file",
                             "Names of what is given to librdkafka; the values are hidden"});
  }
  made.kafka.properties = std::move(section.rest);
  made.shown = std::move(section.shown);
  return std::optional(std::move(made));
}

Status CheckEventCatalog(const EventTopicOptions& options, const std::vector<std::string>& served) {
  const std::string& named = options.reading.catalog;
  if (named.empty() || std::ranges::find(served, named) != served.end()) return Ok();
  return Error{Code::kInvalidArgument, fmt::format("{}: catalog `{}` is not served, only: {}", options.catalog_origin,
                                                   named, fmt::join(served, ", "))};
}

Status CheckEventTopicSettings(const ports::Properties& settings) {
  const std::string* word = ports::FindFirstProperty(settings, {"kafka.format"});
  if (word != nullptr) FIRN_TRY(ports::ParseMessageFormat(*word).In("firn.kafka.format"));
  return Ok();
}

std::vector<service::Metric> MetricsOf(const ports::TopicReader& reader) {
  const ports::TopicCounts counts = reader.counts();
  const ports::TopicState state = reader.state();
  std::vector<service::Metric> metrics;
  const auto add = [&](const char* name, const char* about, bool counter, std::int64_t value) {
    metrics.push_back({.name = name, .about = about, .counter = counter, .value = static_cast<double>(value)});
  };
  add("firn_kafka_up", "Whether a broker of the topic of events is connected.", false, state.is_up ? 1 : 0);
  add("firn_kafka_partitions", "Partitions from which events are read.", false, state.partitions);
  if (state.lag) {
    add("firn_kafka_lag_messages", "Messages of those partitions that are not read yet.", false, *state.lag);
  }
  add("firn_kafka_messages_total", "Messages that were read.", true, counts.messages);
  add("firn_kafka_events_total", "Events in those messages.", true, counts.events);
  add("firn_kafka_messages_ignored_total", "Messages that are not about a table.", true, counts.ignored);
  add("firn_kafka_messages_malformed_total", "Messages that could not be read, and were skipped.", true,
      counts.malformed);
  return metrics;
}

std::vector<service::Metric> MetricsOf(const std::map<std::string, ports::DirectoryWatchCounts>& folders) {
  std::vector<service::Metric> metrics;
  const auto add = [&](const char* name, const char* about, std::int64_t ports::DirectoryWatchCounts::* count) {
    for (const auto& [folder, counts] : folders) {
      metrics.push_back({.name = name,
                         .about = about,
                         .counter = std::string_view(name).ends_with("_total"),
                         .labels = {{"folder", folder}},
                         .value = static_cast<double>(counts.*count)});
    }
  };
  add("firn_watch_folders", "Folders below that are watched.", &ports::DirectoryWatchCounts::watched);
  add("firn_watch_folders_left_out", "Folders below that are too deep, or too many, to be watched.",
      &ports::DirectoryWatchCounts::not_watched);
  add("firn_watch_overflows_total", "How often events were lost, and every table below was looked at.",
      &ports::DirectoryWatchCounts::overflows);
  return metrics;
}

}  // namespace firn::cli
