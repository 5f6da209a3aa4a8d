// SPDX-License-Identifier: Apache-2.0
#include "api/row_json.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "api/http_message.h"
#include "base/ascii.h"
#include "ports/properties.h"
#include "service/row_members.h"

namespace firn::api {
namespace {

using service::MemberKind;
using service::MembersOf;
using Members = std::initializer_list<std::pair<std::string_view, json::Value>>;

json::Value Object(Members members) {
  json::Value object = json::Value::Object();
  for (const auto& [name, value] : members) object.members().emplace_back(std::string(name), value);
  return object;
}

json::Value TimeOf(std::int64_t ms) { return ms == 0 ? json::Value() : json::Value(ms); }

json::Value NumberOf(double value) { return std::isfinite(value) ? json::Value(value) : json::Value(); }

json::Value StringsOf(const std::vector<std::string>& texts) {
  json::Value array = json::Value::Array();
  for (const std::string& text : texts) array.Append(json::Value(text));
  return array;
}

template <class Rows, class Make>
json::Value ArrayOf(const Rows& rows, const Make& make) {
  json::Value array = json::Value::Array();
  for (const auto& row : rows) array.Append(make(row));
  return array;
}

json::Value TrendOf(const service::TrendPoint& point) {
  return Object(
      {{"ms", point.ms}, {"files", point.files}, {"bytes", point.bytes}, {"entropy", NumberOf(point.entropy)}});
}

/// Rows as they are shown: what is not known is null, a request's members stand beside those of its row.
class Shown {
 public:
  json::Value object = json::Value::Object();

  template <class T>
  void operator()(std::string_view name, const T& value, MemberKind kind = MemberKind::kPlain) {
    if constexpr (std::is_same_v<T, std::int64_t>) {
      if (kind == MemberKind::kTime) return Add(name, TimeOf(value));
      if (kind == MemberKind::kSnapshot)
        return Add(name, value < 0 ? json::Value() : json::Value(std::to_string(value)));
    }
    if constexpr (std::is_same_v<T, double>) {
      if (kind == MemberKind::kMeasured && value < 0) return Add(name, json::Value());
    }
    if constexpr (std::is_same_v<T, std::string>) {
      if (kind == MemberKind::kReference && value.empty()) return Add(name, json::Value());
    }
    if constexpr (std::is_same_v<T, service::NewRequest>) {
      MembersOf(*this, value);
    } else {
      Add(name, ValueOf(value));
    }
  }

 private:
  void Add(std::string_view name, json::Value value) {
    object.members().emplace_back(std::string(name), std::move(value));
  }
  template <class T>
  static json::Value ValueOf(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return json::Value(service::Word(value));
    } else if constexpr (std::is_same_v<T, double>) {
      return NumberOf(value);
    } else if constexpr (std::is_class_v<T> && !std::is_same_v<T, std::string>) {
      return RowOf(value);
    } else {
      return json::Value(value);
    }
  }
  template <class T>
  static json::Value ValueOf(const std::vector<T>& values) {
    json::Value array = json::Value::Array();
    for (const T& value : values) array.Append(json::Value(value));
    return array;
  }
  template <class T>
  static json::Value ValueOf(const std::optional<T>& value) {
    return value ? RowOf(*value) : json::Value();
  }
  template <class Row>
  static json::Value RowOf(const Row& row) {
    Shown shown;
    MembersOf(shown, row);
    return std::move(shown.object);
  }
};

template <class Row>
json::Value RowOf(const Row& row) {
  Shown shown;
  MembersOf(shown, row);
  return std::move(shown.object);
}

json::Value SettingOf(const service::SettingRow& row) { return ToJson(row); }

}  // namespace

std::string ShownValue(std::string_view key, std::string_view value) {
  // A file that holds a secret is none; its path may be shown.
  if (ports::IsSecret(key) && !AsciiLower(key).ends_with("file")) return value.empty() ? "" : "(hidden)";
  std::string shown = ports::WithoutCredentials(value);
  const auto user = shown.find("//***@");
  if (user != std::string::npos) shown.erase(user + 2, 4);
  return shown;
}

json::Value ToJson(const service::TableRow& row) { return RowOf(row); }

json::Value ToJson(const service::AnalysisRow& row) {
  auto analysis = json::Parse(row.json);
  return Object({{"table", row.table},
                 {"job", row.job},
                 {"made_ms", TimeOf(row.made_ms)},
                 {"word", row.word},
                 {"proposed_target_bytes",
                  row.proposed_target_bytes == 0 ? json::Value() : json::Value(row.proposed_target_bytes)},
                 {"analysis", analysis ? std::move(*analysis) : json::Value::Object()}});
}

json::Value ToJson(const service::TableDetail& table) {
  json::Value object = ToJson(table.row);
  object.Set("settings", ArrayOf(table.settings, SettingOf));
  object.Set("breaker", Object({{"state", table.breaker.state},
                                {"failures", table.breaker.failures},
                                {"until_ms", TimeOf(table.breaker.until_ms)},
                                {"reason", table.breaker.reason}}));
  object.Set("trends", ArrayOf(table.trends, TrendOf));
  object.Set("histogram", RowOf(table.histogram));
  object.Set("savings", RowOf(table.savings));
  object.Set("analysed_ms", TimeOf(table.analysed_ms));
  return object;
}

json::Value ToJson(const service::PartitionRow& row) {
  return Object({{"text", row.text},
                 {"files", row.files},
                 {"bytes", row.bytes},
                 {"small_files", row.small_files},
                 {"removable_files", row.removable_files},
                 {"delete_files", row.delete_files},
                 {"entropy", NumberOf(row.entropy)},
                 {"noise", NumberOf(row.noise)},
                 {"last_change_ms", TimeOf(row.last_change_ms)},
                 {"last_scan_ms", TimeOf(row.last_scan_ms)},
                 {"verdict", row.verdict},
                 {"reason", row.reason}});
}

json::Value ToJson(const service::DecisionRow& row) {
  auto record = json::Parse(row.json);
  json::Value object = record && record->is_object() ? std::move(*record) : json::Value::Object();
  // What the record was selected by is always there.
  object.Set("id", row.id);
  object.Set("table", row.table);
  object.Set("partition", row.partition);
  object.Set("kind", row.kind);
  object.Set("at_ms", TimeOf(row.time_ms));
  return object;
}

json::Value ToJson(const service::QueueRow& row) {
  return Object({{"position", row.position},
                 {"table", row.table},
                 {"action", row.action},
                 {"partitions", StringsOf(row.partitions)},
                 {"benefit", NumberOf(row.benefit)},
                 {"predicted_seconds", NumberOf(row.predicted_seconds)},
                 {"predicted_bytes", row.predicted_bytes},
                 {"priority", NumberOf(row.priority)},
                 {"created_ms", TimeOf(row.created_ms)},
                 {"deadline_ms", TimeOf(row.deadline_ms)},
                 {"cause", row.cause},
                 {"score", NumberOf(row.score)},
                 {"why_here", row.why_here},
                 {"not_before_ms", TimeOf(row.not_before_ms)}});
}

json::Value ToJson(const service::JobRow& row) { return RowOf(row); }

json::Value ToJson(const service::OutcomeRow& row) {
  return Object({{"job", row.job},
                 {"table", row.table},
                 {"action", row.action},
                 {"ended_ms", TimeOf(row.ended_ms)},
                 {"predicted", RowOf(row.predicted)},
                 {"measured", RowOf(row.measured)},
                 {"cost_correction", NumberOf(row.cost_correction)}});
}

json::Value ToJson(const service::RequestRow& row) { return RowOf(row); }

json::Value ToJson(const service::PolicyRow& row) {
  return Object({{"scope", row.scope}, {"source", row.source}, {"settings", ArrayOf(row.settings, SettingOf)}});
}

json::Value ToJson(const service::SettingRow& row) {
  return Object(
      {{"key", row.key}, {"value", ShownValue(row.key, row.value)}, {"source", row.source}, {"about", row.about}});
}

json::Value ToJson(const service::FleetSummary& summary) {
  return Object({{"version", summary.version},
                 {"started_ms", TimeOf(summary.started_ms)},
                 {"paused", summary.paused},
                 {"shadow", summary.shadow},
                 {"tables", summary.tables},
                 {"files", summary.files},
                 {"bytes", summary.bytes},
                 {"small_files", summary.small_files},
                 {"removable_files", summary.removable_files},
                 {"entropy", NumberOf(summary.entropy)},
                 {"tables_not_ok", summary.tables_not_ok},
                 {"queue_length", summary.queue_length},
                 {"jobs_running", summary.jobs_running},
                 {"commits_seen", summary.commits_seen},
                 {"partitions_changed", summary.partitions_changed},
                 {"partitions_noisy", summary.partitions_noisy},
                 {"partition_scans", summary.partition_scans},
                 {"merges", summary.merges},
                 {"files_replaced", summary.files_replaced},
                 {"bytes_rewritten", summary.bytes_rewritten},
                 {"events", summary.events},
                 {"events_duplicate", summary.events_duplicate},
                 {"events_dropped", summary.events_dropped},
                 {"snapshots_found_by_sweep_only", summary.snapshots_found_by_sweep_only},
                 {"staleness_bound_ms", summary.staleness_bound_ms},
                 {"trends", ArrayOf(summary.trends, TrendOf)}});
}

}  // namespace firn::api
