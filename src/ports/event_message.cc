// SPDX-License-Identifier: Apache-2.0
#include "ports/event_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ports/event_text.h"

namespace firn::ports {
namespace {

constexpr std::array<std::pair<std::string_view, MessageFormat>, 5> kWords = {{
    {"auto", MessageFormat::kAuto},
    {"metrics-report", MessageFormat::kMetricsReport},
    {"cloudevents", MessageFormat::kCloudEvents},
    {"s3", MessageFormat::kStorage},
    {"webhook", MessageFormat::kWebhook},
}};
constexpr std::string_view kStructured = "application/cloudevents+json";
constexpr std::string_view kBatch = "application/cloudevents-batch+json";
constexpr char kLevelSeparator = '\x1f';

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

std::string_view HeaderOr(const HttpHeaders& headers, std::string_view name, std::string_view fallback) {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return fallback;
}

bool IsBinaryCloudEvent(const HttpHeaders& headers) { return !HeaderOr(headers, "ce_type", "").empty(); }

MessageFormat FormatOf(const HttpHeaders& headers, const json::Value& message) {
  if (IsBinaryCloudEvent(headers) || HeaderOr(headers, "content-type", "").starts_with("application/cloudevents")) {
    return MessageFormat::kCloudEvents;
  }
  const bool is_batch = message.is_array() && !message.elements().empty();
  const json::Value& first = is_batch ? message.elements().front() : message;
  if (first.Find("specversion") != nullptr) return MessageFormat::kCloudEvents;
  if (message.Find("report-type") != nullptr) return MessageFormat::kMetricsReport;
  for (const char* member : {"Records", "detail", "Message", "Event"}) {
    if (message.Find(member) != nullptr) return MessageFormat::kStorage;
  }
  return MessageFormat::kWebhook;
}

struct TableReading {
  std::string catalog;
  std::vector<std::string> levels;  // the last one is the table
};

/// What "a.b.c" can mean.
Result<std::vector<TableReading>> ReadingsOf(const MessageReading& reading, std::string_view catalog,
                                             std::string_view name) {
  FIRN_ASSIGN(std::vector<std::string> levels, SplitNames("table-name", name, '.'));
  if (levels.size() < 2) return Invalid("`table-name` does not name a table and its namespace");
  std::vector<TableReading> readings;
  const bool is_catalog = std::ranges::find(reading.catalogs, levels.front()) != reading.catalogs.end();
  if (levels.size() == 2 || !is_catalog) readings.push_back({std::string(catalog), levels});
  if (levels.size() > 2) {
    readings.push_back({is_catalog ? levels.front() : std::string(catalog), {levels.begin() + 1, levels.end()}});
  }
  return readings;
}

std::string Joined(const std::vector<std::string>& levels) {
  return fmt::format("{}", fmt::join(levels, std::string_view(&kLevelSeparator, 1)));
}

Result<ParsedEvents> MetricsReport(const MessageReading& reading, const HttpHeaders& headers, std::string_view catalog,
                                   std::string_view body) {
  const std::string_view table = HeaderOr(headers, "table", "");
  if (!table.empty()) {
    const std::string_view name_space = HeaderOr(headers, "namespace", "");
    const bool has_levels = name_space.find(kLevelSeparator) != std::string_view::npos;
    FIRN_ASSIGN(const auto levels, SplitNames("namespace", name_space, has_levels ? kLevelSeparator : '.'));
    return ParseMetricsReport(catalog, Joined(levels), table, body);
  }
  FIRN_ASSIGN(const json::Value report, ParseEventJson(body));
  FIRN_ASSIGN(std::string name, EventText(report, "table-name"));
  if (name.empty()) return Invalid("`table-name` is missing, and there is no header `table`");
  if (name.find('/') != std::string::npos) {  // Tables of a directory are called by it.
    FIRN_ASSIGN(ParsedEvents parsed, ParseMetricsReport(catalog, "-", "-", body));
    TableEvent& event = parsed.events.front();
    event.name_space.clear();
    event.table.clear();
    while (name.size() > 1 && name.ends_with('/')) name.pop_back();
    event.location = std::move(name);
    return parsed;
  }
  FIRN_ASSIGN(auto readings, ReadingsOf(reading, catalog, name));
  ParsedEvents parsed;
  for (TableReading& one : readings) {
    const std::string own = std::move(one.levels.back());
    one.levels.pop_back();
    FIRN_ASSIGN(ParsedEvents read, ParseMetricsReport(one.catalog, Joined(one.levels), own, body));
    parsed.events.push_back(std::move(read.events.front()));
  }
  return parsed;
}

Result<ParsedEvents> CloudEvents(const HttpHeaders& headers, std::string_view catalog, std::string_view body) {
  std::string_view type = HeaderOr(headers, "content-type", "");
  if (IsBinaryCloudEvent(headers)) {
    HttpHeaders attributes;
    for (const auto& [name, value] : headers) {
      if (name.starts_with("ce_")) attributes.emplace_back("ce-" + name.substr(3), value);
    }
    return ParseCloudEvents("", attributes, catalog, body);
  }
  if (!type.starts_with("application/cloudevents")) type = body.starts_with('[') ? kBatch : kStructured;
  return ParseCloudEvents(type, {}, catalog, body);
}

Result<ParsedEvents> WithCatalog(Result<ParsedEvents> parsed, std::string_view catalog) {
  if (!parsed) return parsed;
  FIRN_ASSIGN(const std::string checked, CheckedEventText("catalog", catalog));
  for (TableEvent& event : parsed->events) {
    if (event.catalog.empty() && !event.table.empty()) event.catalog = checked;
  }
  return parsed;
}

Result<ParsedEvents> ParseAs(MessageFormat format, const MessageReading& reading, const HttpHeaders& headers,
                             std::string_view body) {
  const std::string_view catalog = HeaderOr(headers, "catalog", reading.catalog);
  switch (format) {
    case MessageFormat::kMetricsReport: return MetricsReport(reading, headers, catalog, body);
    case MessageFormat::kCloudEvents: return CloudEvents(headers, catalog, body);
    case MessageFormat::kStorage: return ParseStorageEvents(body);
    case MessageFormat::kAuto:
    case MessageFormat::kWebhook: break;
  }
  return WithCatalog(ParseWebhook(body), catalog);
}

}  // namespace

Result<MessageFormat> ParseMessageFormat(std::string_view word) {
  for (const auto& [name, format] : kWords) {
    if (name == word) return format;
  }
  return Invalid(fmt::format("\"{}\" is none of auto, metrics-report, cloudevents, s3, webhook", word.substr(0, 64)));
}

Result<ParsedEvents> ParseEventMessage(const MessageReading& reading, const HttpHeaders& headers,
                                       std::string_view body) {
  MessageFormat format = reading.format;
  while (!body.empty() && (body.front() == ' ' || body.front() == '\n' || body.front() == '\r' || body.front() == '\t'))
    body.remove_prefix(1);
  if (format == MessageFormat::kAuto) {
    json::Value message;
    if (!body.empty() || !IsBinaryCloudEvent(headers)) {
      FIRN_ASSIGN(message, ParseEventJson(body));
    }
    format = FormatOf(headers, message);
  }
  Result<ParsedEvents> parsed = ParseAs(format, reading, headers, body);
  if (!parsed) return parsed;
  for (TableEvent& event : parsed->events) event.source = TableEvent::Source::kKafka;
  return parsed;
}

}  // namespace firn::ports
