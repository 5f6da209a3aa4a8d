// SPDX-License-Identifier: Apache-2.0
#include "ports/hive_entry.h"

#include <array>
#include <utility>

namespace firn::ports {
namespace {

using thrift::Type;
using thrift::Value;

constexpr std::int16_t kTableName = 1, kParameters = 9;
constexpr std::size_t kParameterBytesMax = 32'672;  // of a column of Hive's own database

constexpr std::array<std::pair<const char*, const char*>, 3> kCounts = {
    {{"numFiles", "total-data-files"}, {"numRows", "total-records"}, {"totalSize", "total-files-size"}}};

std::string Parameter(const Value& entry, std::string_view name) {
  const Value* parameters = entry.Find(kParameters, Type::kMap);
  const std::string* value = parameters ? parameters->FindKey(name) : nullptr;
  return value ? *value : "";
}

/// Hive's name for a property of Iceberg; null for one that is not repeated there.
const char* NameOfProperty(const std::string& property) {
  if (property == "gc.enabled") return "external.table.purge";
  return property == "hive.metastore.table.owner" ? nullptr : property.c_str();
}

void SetProperties(Value& parameters, const PointerSwap& swap) {
  const auto& before = swap.base.properties();
  const auto& after = swap.updated.properties();
  for (const auto& [key, value] : after) {
    const auto old = before.find(key);
    const bool is_same = old != before.end() && old->second == value;
    if (const char* name = NameOfProperty(key); name && !is_same) parameters.SetKey(name, value);
  }
  for (const auto& [key, value] : before) {
    if (const char* name = NameOfProperty(key); name && !after.contains(key)) parameters.RemoveKey(name);
  }
}

std::string SummaryText(const iceberg::Snapshot& snapshot) {
  json::Value summary = json::Value::Object();
  for (const auto& [key, value] : snapshot.summary) {
    if (key != "operation") summary.Set(key, value);  // Java has it beside the summary
  }
  return json::Write(summary);
}

/// `value` empty: there is none any more.
void Refresh(Value& parameters, std::string_view key, const std::string& value) {
  if (!parameters.FindKey(key)) return;
  if (value.empty() || value.size() > kParameterBytesMax) return parameters.RemoveKey(key);
  parameters.SetKey(key, value);
}

void RefreshSnapshot(Value& parameters, const iceberg::TableMetadata& updated) {
  const iceberg::Snapshot* head = updated.current_snapshot();
  Refresh(parameters, "current-snapshot-id", head ? std::to_string(head->id.value) : "");
  Refresh(parameters, "current-snapshot-timestamp-ms", head ? std::to_string(head->timestamp.value) : "");
  Refresh(parameters, "current-snapshot-summary", head ? SummaryText(*head) : "");
  Refresh(parameters, "snapshot-count", std::to_string(updated.snapshots().size()));
  for (const auto& [parameter, count] : kCounts) {
    const std::string* value = head ? head->FindSummary(count) : nullptr;
    if (value) Refresh(parameters, parameter, *value);
  }
}

}  // namespace

bool IsIcebergEntry(const Value& entry) { return IsIcebergType(Parameter(entry, "table_type")); }

std::string NameOfEntry(const Value& entry) { return std::string(entry.TextOf(kTableName)); }

Result<std::string> LocationOfEntry(const TableIdentifier& id, const Value& entry) {
  return PointerOfEntry(id, "the metastore", Parameter(entry, "table_type"), Parameter(entry, "metadata_location"));
}

Status CheckEntryWritable(const Value& entry) {
  if (Parameter(entry, "encryption.key-id").empty()) return Ok();
  return Error{Code::kUnsupported, "the table is encrypted: the metastore has encryption.key-id for it"};
}

void PointEntry(Value& entry, const PointerSwap& swap) {
  Value* parameters = entry.Find(kParameters, Type::kMap);
  if (parameters == nullptr) {
    entry.fields.push_back({kParameters, Value::TextMap()});
    parameters = &entry.fields.back().value;
  }
  const std::string table_type = Parameter(entry, "table_type");
  SetProperties(*parameters, swap);
  RefreshSnapshot(*parameters, swap.updated);
  // Last, so that no property of the table is in their place.
  parameters->SetKey("table_type", table_type);
  parameters->SetKey("metadata_location", swap.to);
  parameters->SetKey("previous_metadata_location", swap.from);
}

}  // namespace firn::ports
