// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "ports/event_parse.h"
#include "ports/event_text.h"

namespace firn::ports {
namespace {

using Kind = TableEvent::Kind;

constexpr std::string_view kPolaris = "org.apache.polaris.";
constexpr std::array<std::pair<std::string_view, Kind>, 6> kLakekeeperTypes = {{
    {"updateTable", Kind::kCommit},
    {"createTable", Kind::kCreate},
    {"registerTable", Kind::kCreate},
    {"undropTabulars", Kind::kCreate},
    {"dropTable", Kind::kDrop},
    {"renameTable", Kind::kRename},
}};
constexpr std::array<std::pair<std::string_view, Kind>, 5> kPolarisTypes = {{
    {"after_update_table", Kind::kCommit},
    {"after_create_table", Kind::kCreate},
    {"after_register_table", Kind::kCreate},
    {"after_drop_table", Kind::kDrop},
    {"after_rename_table", Kind::kRename},
}};

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

template <std::size_t kCount>
std::optional<Kind> KindIn(const std::array<std::pair<std::string_view, Kind>, kCount>& types, std::string_view type) {
  for (const auto& [name, kind] : types) {
    if (name == type) return kind;
  }
  return std::nullopt;
}

/// The snapshot that a commit request adds; nullopt where it adds none.
std::optional<std::int64_t> AddedSnapshot(const json::Value& commit) {
  const json::Value* updates = commit.Find("updates");
  if (updates == nullptr) return std::nullopt;
  std::optional<std::int64_t> id;
  for (const json::Value& update : updates->elements()) {
    const json::Value* action = update.Find("action");
    const std::string* word = action != nullptr ? action->AsString() : nullptr;
    const json::Value* snapshot = word != nullptr && *word == "add-snapshot" ? update.Find("snapshot") : nullptr;
    const json::Value* member = snapshot != nullptr ? snapshot->Find("snapshot-id") : nullptr;
    if (member != nullptr) id = member->AsInt64();
  }
  return id;
}

const json::Value& DataOf(const json::Value& event) {
  static const json::Value kNone;
  const json::Value* data = event.Find("data");
  return data != nullptr ? *data : kNone;
}

Result<std::optional<TableEvent>> LakekeeperEvent(Kind kind, const json::Value& event) {
  FIRN_ASSIGN(const std::string type, EventText(event, "tabular-type"));
  if (!type.empty() && type != "table") return std::optional<TableEvent>();
  TableEvent made{.kind = kind, .source = TableEvent::Source::kCloudEvent};
  FIRN_ASSIGN(made.uuid, EventText(event, "tabular-id"));
  FIRN_ASSIGN(made.table, EventText(event, "name"));
  const json::Value* levels = event.Find("namespace");
  if (levels != nullptr && levels->is_string()) {
    // Levels of a namespace come joined by U+001F, as in the REST catalog's paths; by dots from older versions.
    const std::string& text = *levels->AsString();
    const char separator = text.find('\x1f') != std::string::npos ? '\x1f' : '.';
    FIRN_ASSIGN(made.name_space, SplitNames("namespace", text, separator));
  }
  if (made.table.empty() || made.name_space.empty()) return Invalid("`name` or `namespace` is missing");
  if (kind == Kind::kCommit) made.snapshot_id = AddedSnapshot(DataOf(event));
  return std::optional(std::move(made));
}

Result<std::optional<TableEvent>> PolarisEvent(Kind kind, const json::Value& event) {
  const json::Value& data = DataOf(event);
  if (!data.is_object()) return Invalid("`data` is not an object");
  TableEvent made{.kind = kind, .source = TableEvent::Source::kCloudEvent};
  FIRN_ASSIGN(made.catalog, EventText(data, "catalog_name"));
  FIRN_ASSIGN(made.table, EventText(data, "table_name"));
  // A renamed table is looked at under its new name.
  const json::Value* whole = data.Find(kind == Kind::kRename ? "destination" : "table_identifier");
  const json::Value* levels = data.Find("namespace");
  if (whole != nullptr) {
    FIRN_ASSIGN(made.name_space, EventNames(*whole, "table_identifier"));
    if (!made.name_space.empty()) {
      made.table = std::move(made.name_space.back());
      made.name_space.pop_back();
    }
  } else if (levels != nullptr) {
    FIRN_ASSIGN(made.name_space, EventNames(*levels, "namespace"));
  }
  if (made.table.empty() || made.name_space.empty()) return Invalid("`data` does not name a table");
  return std::optional(std::move(made));
}

/// nullopt: well-formed, and not about a table.
Result<std::optional<TableEvent>> CloudEvent(const json::Value& event, std::string_view catalog) {
  if (!event.is_object()) return Invalid("an event is not a JSON object");
  FIRN_ASSIGN(const std::string version, EventText(event, "specversion"));
  if (version != "1.0") return Invalid("`specversion` is not \"1.0\"");
  for (const char* member : {"id", "source", "type"}) {
    FIRN_ASSIGN(const std::string text, EventText(event, member));
    if (text.empty()) return Invalid(fmt::format("`{}` is missing", member));
  }
  FIRN_ASSIGN(const std::string type, EventText(event, "type"));
  Result<std::optional<TableEvent>> made = std::optional<TableEvent>();
  if (const auto kind = KindIn(kLakekeeperTypes, type)) made = LakekeeperEvent(*kind, event);
  if (type.starts_with(kPolaris)) {
    if (const auto kind = KindIn(kPolarisTypes, std::string_view(type).substr(kPolaris.size()))) {
      made = PolarisEvent(*kind, event);
    }
  }
  if (made && *made && (*made)->catalog.empty()) {
    FIRN_ASSIGN((*made)->catalog, CheckedEventText("catalog", catalog));
  }
  return made;
}

Status AddCloudEvent(const json::Value& event, std::string_view catalog, ParsedEvents& parsed) {
  FIRN_ASSIGN(std::optional<TableEvent> made, CloudEvent(event, catalog));
  if (made) {
    parsed.events.push_back(std::move(*made));
  } else {
    ++parsed.ignored;
  }
  return Ok();
}

/// Binary mode: attributes are headers, the body is the data.
Result<json::Value> BinaryEvent(const HttpHeaders& headers, std::string_view body) {
  json::Value event = json::Value::Object();
  for (const auto& [name, value] : headers) {
    if (name.starts_with("ce-")) event.Set(name.substr(3), json::Value(value));
  }
  if (!body.empty()) {
    FIRN_ASSIGN(json::Value data, ParseEventJson(body));
    event.Set("data", std::move(data));
  }
  return event;
}

}  // namespace

Result<ParsedEvents> ParseCloudEvents(std::string_view content_type, const HttpHeaders& headers,
                                      std::string_view catalog, std::string_view body) {
  ParsedEvents parsed;
  const bool binary = std::any_of(headers.begin(), headers.end(), [](const auto& h) { return h.first == "ce-type"; });
  if (binary && !content_type.starts_with("application/cloudevents")) {
    FIRN_ASSIGN(const json::Value event, BinaryEvent(headers, body));
    FIRN_TRY(AddCloudEvent(event, catalog, parsed));
    return parsed;
  }
  FIRN_ASSIGN(const json::Value message, ParseEventJson(body));
  const bool batch = content_type.starts_with("application/cloudevents-batch+json");
  if (batch != message.is_array()) {
    return Invalid("a batch is an array with the content type application/cloudevents-batch+json");
  }
  if (!batch) {
    FIRN_TRY(AddCloudEvent(message, catalog, parsed));
    return parsed;
  }
  if (message.elements().size() > kEventsMax) {
    return Error{Code::kLimit, fmt::format("more than {} events in one message", kEventsMax)};
  }
  for (const json::Value& event : message.elements()) FIRN_TRY(AddCloudEvent(event, catalog, parsed));
  return parsed;
}

}  // namespace firn::ports
