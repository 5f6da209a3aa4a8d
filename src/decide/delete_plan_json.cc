// SPDX-License-Identifier: Apache-2.0
#include "decide/delete_plan_json.h"

#include <algorithm>

#include "decide/plan_json.h"

namespace firn::decide {
namespace {

std::string_view KindName(const iceberg::DataFile& file) {
  switch (iceberg::KindOf(file)) {
    case iceberg::DeleteKind::kPositions: return "position-deletes";
    case iceberg::DeleteKind::kVector: return "deletion-vector";
    case iceberg::DeleteKind::kEquality: return "equality-deletes";
  }
  return "";
}

json::Value ToJson(const iceberg::DeleteEntry& entry, bool is_needed) {
  json::Value value = json::Value::Object();
  value.Set("path", entry.file.file_path);
  value.Set("kind", KindName(entry.file));
  if (entry.file.referenced_data_file) value.Set("referenced_data_file", *entry.file.referenced_data_file);
  value.Set("records", entry.file.record_count);
  value.Set("bytes", entry.file.content_size_bytes.value_or(entry.file.file_size_bytes));
  value.Set("data_sequence_number", entry.sequence_number.value);
  value.Set("dangling", !is_needed);
  return value;
}

}  // namespace

json::Value ToJson(const DeletePlan& plan, const observe::DeleteFacts& facts, std::size_t files_max) {
  json::Value value = json::Value::Object();
  value.Set("plan_id", plan.plan_id);
  value.Set("table", plan.table);
  value.Set("ref", plan.ref);
  value.Set("base_snapshot_id", plan.base_snapshot_id ? json::Value(plan.base_snapshot_id->value) : json::Value());
  value.Set("base_sequence_number", plan.base_sequence_number.value);
  value.Set("format_version", std::int64_t{plan.format_version});
  value.Set("writes_vectors", plan.writes_vectors);
  value.Set("reason", plan.reason);
  value.Set("equality_files", plan.equality_files);
  value.Set("position_files", plan.position_files);
  value.Set("dangling_files", plan.dangling_files);
  value.Set("data_files", static_cast<std::int64_t>(plan.targets.size()));
  value.Set("scanned_files", plan.scanned_files);
  value.Set("scanned_rows", plan.scanned_rows);
  json::Value deletes = json::Value::Array();
  for (std::size_t i = 0; i < std::min(files_max, plan.deletes.size()); ++i) {
    const std::uint32_t index = plan.deletes[i];
    deletes.Append(ToJson(facts.deletes.entries()[index], facts.is_needed[index]));
  }
  value.Set("deletes", std::move(deletes));
  json::Value refusals = json::Value::Array();
  for (const auto& refusal : plan.refusals) refusals.Append(ToJson(refusal));
  value.Set("refusals", std::move(refusals));
  return value;
}

}  // namespace firn::decide
