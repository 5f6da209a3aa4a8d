// SPDX-License-Identifier: Apache-2.0
#include "decide/plan_json.h"

namespace firn::decide {
namespace {

json::Value ToJson(const MergeGroup& group, const observe::Facts& facts) {
  json::Value value = json::Value::Object();
  value.Set("partition", facts.partitions[group.partition].text);
  value.Set("spec_id", facts.partitions[group.partition].spec_id.value);
  value.Set("files", static_cast<std::int64_t>(group.files.size()));
  value.Set("input_bytes", group.input_bytes);
  value.Set("input_records", group.input_records);
  value.Set("deleted_rows", group.deleted_rows);
  value.Set("delete_files", group.delete_files);
  value.Set("may_delete_more", group.may_delete_more);
  value.Set("predicted_outputs", group.predicted_outputs);
  value.Set("predicted_output_bytes", group.predicted_output_bytes);
  value.Set("predicted_seconds", group.predicted_seconds);
  value.Set("value", group.value);
  value.Set("keeps_order", group.keeps_order);
  value.Set("sort_order_id", group.sort_order_id);
  value.Set("why", group.why);
  return value;
}

}  // namespace

json::Value ToJson(const Refusal& refusal) {
  json::Value value = json::Value::Object();
  value.Set("code", refusal.code);
  value.Set("reason", refusal.reason);
  if (!refusal.partition.empty()) value.Set("partition", refusal.partition);
  value.Set("files", refusal.files);
  value.Set("bytes", refusal.bytes);
  value.Set("partitions", refusal.partitions);
  return value;
}

json::Value ToJson(const Plan& plan, const observe::Facts& facts) {
  json::Value value = json::Value::Object();
  value.Set("plan_id", plan.plan_id);
  value.Set("table", plan.table);
  value.Set("ref", plan.ref);
  value.Set("base_snapshot_id", plan.base_snapshot_id ? json::Value(plan.base_snapshot_id->value) : json::Value());
  value.Set("base_sequence_number", plan.base_sequence_number.value);
  value.Set("target_size_bytes", plan.target_size_bytes);
  value.Set("reason", plan.reason);
  value.Set("files_before", plan.files_before);
  value.Set("files_after", plan.files_after);
  value.Set("files_replaced", plan.files_replaced);
  value.Set("bytes_rewritten", plan.bytes_rewritten);
  value.Set("deleted_rows", plan.deleted_rows);
  value.Set("predicted_seconds", plan.predicted_seconds);
  value.Set("size_mse_before", plan.size_mse_before);
  value.Set("size_mse_after", plan.size_mse_after);
  json::Value groups = json::Value::Array();
  for (const auto& group : plan.groups) groups.Append(ToJson(group, facts));
  value.Set("groups", std::move(groups));
  json::Value refusals = json::Value::Array();
  for (const auto& refusal : plan.refusals) refusals.Append(ToJson(refusal));
  value.Set("refusals", std::move(refusals));
  json::Value notes = json::Value::Array();
  for (const auto& note : plan.notes) notes.Append(note);
  value.Set("notes", std::move(notes));
  return value;
}

}  // namespace firn::decide
