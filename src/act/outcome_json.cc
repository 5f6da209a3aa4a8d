// SPDX-License-Identifier: Apache-2.0
#include "act/outcome_json.h"

namespace firn::act {
namespace {

json::Value ToJson(const CommitOutcome& commit) {
  json::Value value = json::Value::Object();
  value.Set("snapshot_id", commit.snapshot_id.value);
  value.Set("groups", commit.groups);
  value.Set("files_removed", commit.files_removed);
  value.Set("files_added", commit.files_added);
  value.Set("bytes_removed", commit.bytes_removed);
  value.Set("bytes_added", commit.bytes_added);
  value.Set("attempts", std::int64_t{commit.attempts});
  return value;
}

json::Value ToJson(const GroupFailure& failure) {
  json::Value value = json::Value::Object();
  value.Set("partition", failure.partition);
  value.Set("files", failure.files);
  value.Set("code", CodeName(failure.error.code));
  value.Set("message", failure.error.message);
  value.Set("refused", failure.is_refusal);
  return value;
}

template <class T>
json::Value ListToJson(const std::vector<T>& items) {
  json::Value list = json::Value::Array();
  for (const auto& item : items) list.Append(ToJson(item));
  return list;
}

json::Value TextsToJson(const std::vector<std::string>& texts) {
  json::Value list = json::Value::Array();
  for (const std::string& text : texts) list.Append(text);
  return list;
}

}  // namespace

json::Value ToJson(const Outcome& outcome) {
  json::Value value = json::Value::Object();
  value.Set("plan_id", outcome.plan_id);
  value.Set("table", outcome.table);
  value.Set("commits", ListToJson(outcome.commits));
  value.Set("failures", ListToJson(outcome.failures));
  value.Set("leftover_files", TextsToJson(outcome.leftover_files));
  value.Set("leftovers_removed", outcome.leftovers_removed);
  value.Set("files_removed", outcome.files_removed);
  value.Set("files_added", outcome.files_added);
  value.Set("bytes_removed", outcome.bytes_removed);
  value.Set("bytes_added", outcome.bytes_added);
  value.Set("rows", outcome.rows);
  value.Set("deleted_rows", outcome.deleted_rows);
  json::Value tiers = json::Value::Object();
  for (std::size_t i = 0; i < outcome.tiers.size(); ++i) {
    if (outcome.tiers[i].chunks == 0 && outcome.tiers[i].bytes == 0) continue;
    json::Value tier = json::Value::Object();
    tier.Set("bytes", outcome.tiers[i].bytes);
    tier.Set("chunks", outcome.tiers[i].chunks);
    tiers.Set(splice::TierName(static_cast<splice::Tier>(i)), std::move(tier));
  }
  value.Set("tiers", std::move(tiers));
  value.Set("storage_copied_bytes", outcome.storage_copied_bytes);
  value.Set("notes", TextsToJson(outcome.notes));
  value.Set("seconds", outcome.seconds);
  return value;
}

json::Value ToJson(const DeleteOutcome& outcome) {
  json::Value value = json::Value::Object();
  value.Set("plan_id", outcome.plan_id);
  value.Set("table", outcome.table);
  value.Set("snapshot_id", outcome.snapshot_id ? json::Value(outcome.snapshot_id->value) : json::Value());
  value.Set("attempts", std::int64_t{outcome.attempts});
  value.Set("equality_files_removed", outcome.equality_files_removed);
  value.Set("position_files_removed", outcome.position_files_removed);
  value.Set("vectors_removed", outcome.vectors_removed);
  value.Set("position_files_added", outcome.position_files_added);
  value.Set("vectors_added", outcome.vectors_added);
  value.Set("bytes_removed", outcome.bytes_removed);
  value.Set("bytes_added", outcome.bytes_added);
  value.Set("files_kept", outcome.files_kept);
  value.Set("data_files_read", outcome.data_files_read);
  value.Set("rows_scanned", outcome.rows_scanned);
  value.Set("rows_converted", outcome.rows_converted);
  value.Set("passes", outcome.passes);
  value.Set("failures", ListToJson(outcome.failures));
  value.Set("leftover_files", TextsToJson(outcome.leftover_files));
  value.Set("leftovers_removed", outcome.leftovers_removed);
  value.Set("notes", TextsToJson(outcome.notes));
  value.Set("seconds", outcome.seconds);
  return value;
}

}  // namespace firn::act
