// SPDX-License-Identifier: Apache-2.0
#include "ports/event_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ports/dotted_name.h"
#include "ports/event_text.h"
#include "ports/metadata_file.h"

namespace firn::ports {
namespace {

constexpr char kLevelSeparator = '\x1f';

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

/// A counter or timer result of a metrics report; 0 where the engine does not report it.
std::int64_t MetricOf(const json::Value& metrics, std::string_view name, std::string_view value_member) {
  const json::Value* metric = metrics.Find(name);
  const json::Value* value = metric != nullptr ? metric->Find(value_member) : nullptr;
  return value != nullptr ? std::max<std::int64_t>(0, value->AsInt64().value_or(0)) : 0;
}

ScanFigures ScanFiguresOf(const json::Value& metrics) {
  ScanFigures scan;
  scan.data_files = MetricOf(metrics, "result-data-files", "value");
  scan.delete_files = MetricOf(metrics, "result-delete-files", "value");
  scan.bytes = MetricOf(metrics, "total-file-size-in-bytes", "value");
  const json::Value* timer = metrics.Find("total-planning-duration");
  const std::string* unit = nullptr;
  if (timer != nullptr) {
    if (const json::Value* member = timer->Find("time-unit")) unit = member->AsString();
  }
  const std::int64_t duration = MetricOf(metrics, "total-planning-duration", "total-duration");
  const bool nanoseconds = unit == nullptr || *unit == "nanoseconds";
  scan.planning_ms = nanoseconds ? duration / 1'000'000 : duration;
  return scan;
}

Result<TableEvent> WebhookEvent(const json::Value& object) {
  constexpr std::array<std::string_view, 6> kKnown = {"catalog",  "namespace", "table",
                                                      "location", "uuid",      "snapshot-id"};
  if (!object.is_object()) return Invalid("an event is not a JSON object");
  for (const auto& [name, value] : object.members()) {
    if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) {
      return Invalid(fmt::format("`{}` is not a member of an event", name.substr(0, 64)));
    }
  }
  TableEvent event{.kind = TableEvent::Kind::kCommit, .source = TableEvent::Source::kWebhook};
  FIRN_ASSIGN(event.catalog, EventText(object, "catalog"));
  FIRN_ASSIGN(event.table, EventText(object, "table"));
  FIRN_ASSIGN(event.location, EventText(object, "location"));
  FIRN_ASSIGN(event.uuid, EventText(object, "uuid"));
  if (const json::Value* levels = object.Find("namespace")) {
    FIRN_ASSIGN(event.name_space, EventNames(*levels, "namespace"));
  } else if (!event.table.empty()) {
    const bool is_quoted = event.table.find('"') != std::string::npos;
    FIRN_ASSIGN(event.name_space, is_quoted ? SplitDottedName(event.table) : SplitNames("table", event.table, '.'));
    event.table = std::move(event.name_space.back());
    event.name_space.pop_back();
  }
  if (const json::Value* snapshot = object.Find("snapshot-id")) {
    event.snapshot_id = snapshot->AsInt64();
    if (!event.snapshot_id) return Invalid("`snapshot-id` is not an integer");
  }
  while (event.location.size() > 1 && event.location.ends_with('/')) event.location.pop_back();
  if (event.table.empty() && event.location.empty()) return Invalid("neither `table` nor `location` is there");
  if (!event.table.empty() && event.name_space.empty()) return Invalid("`table` has no namespace before its name");
  return event;
}

}  // namespace

Result<ParsedEvents> ParseMetricsReport(std::string_view catalog, std::string_view name_space, std::string_view table,
                                        std::string_view body) {
  FIRN_ASSIGN(const json::Value report, ParseEventJson(body));
  if (!report.is_object()) return Invalid("the report is not a JSON object");
  TableEvent event{.source = TableEvent::Source::kMetricsReport};
  FIRN_ASSIGN(event.catalog, CheckedEventText("prefix", catalog));
  FIRN_ASSIGN(event.name_space, SplitNames("namespace", name_space, kLevelSeparator));
  FIRN_ASSIGN(event.table, CheckedEventText("table", table));
  if (event.table.empty() || event.name_space.empty()) return Invalid("the path does not name a table");
  FIRN_ASSIGN(const std::string type, EventText(report, "report-type"));
  if (type != "commit-report" && type != "scan-report") {
    return Invalid("`report-type` is neither `commit-report` nor `scan-report`");
  }
  const json::Value* snapshot = report.Find("snapshot-id");
  event.snapshot_id = snapshot != nullptr ? snapshot->AsInt64() : std::nullopt;
  if (!event.snapshot_id) return Invalid("`snapshot-id` is missing, or not an integer");
  const json::Value* metrics = report.Find("metrics");
  if (metrics == nullptr || !metrics->is_object()) return Invalid("`metrics` is missing, or not an object");
  if (type == "scan-report") {
    event.kind = TableEvent::Kind::kScan;
    event.scan = ScanFiguresOf(*metrics);
  }
  ParsedEvents parsed;
  parsed.events.push_back(std::move(event));
  return parsed;
}

Result<ParsedEvents> ParseWebhook(std::string_view body) {
  FIRN_ASSIGN(const json::Value message, ParseEventJson(body));
  ParsedEvents parsed;
  if (!message.is_array()) {
    FIRN_ASSIGN(TableEvent event, WebhookEvent(message));
    parsed.events.push_back(std::move(event));
    return parsed;
  }
  if (message.elements().size() > kEventsMax) {
    return Error{Code::kLimit, fmt::format("more than {} events in one message", kEventsMax)};
  }
  for (const json::Value& element : message.elements()) {
    FIRN_ASSIGN(TableEvent event, WebhookEvent(element));
    parsed.events.push_back(std::move(event));
  }
  return parsed;
}

std::string TableLocationOf(std::string_view metadata_location) {
  const auto slash = metadata_location.rfind('/');
  if (slash == std::string_view::npos) return "";
  if (!IsMetadataFileName(metadata_location)) return "";
  const std::string_view folder = metadata_location.substr(0, slash);
  if (!folder.ends_with("/metadata")) return "";
  return std::string(folder.substr(0, folder.size() - std::string_view("/metadata").size()));
}

}  // namespace firn::ports
