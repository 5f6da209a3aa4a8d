// SPDX-License-Identifier: Apache-2.0
#include "observe/change_json.h"

#include <algorithm>

namespace firn::observe {
namespace {

json::Value IdJson(const std::optional<SnapshotId>& id) { return id ? json::Value(id->value) : json::Value(); }

json::Value FilesJson(const std::vector<ChangedFile>& files) {
  std::int64_t bytes = 0, records = 0;
  for (const ChangedFile& file : files) {
    bytes += file.size_bytes;
    records += file.record_count;
  }
  json::Value value = json::Value::Object();
  value.Set("files", static_cast<std::int64_t>(files.size()));
  value.Set("size_bytes", bytes);
  value.Set("record_count", records);
  return value;
}

json::Value DeletesJson(const ChangedDeletes& deletes) {
  json::Value value = json::Value::Object();
  value.Set("position_files", deletes.position_files);
  value.Set("equality_files", deletes.equality_files);
  value.Set("vectors", deletes.vectors);
  value.Set("rows", deletes.rows);
  return value;
}

json::Value DeltaJson(const PartitionDelta& delta) {
  json::Value value = json::Value::Object();
  value.Set("partition", delta.text);
  value.Set("spec_id", delta.spec_id.value);
  value.Set("added", FilesJson(delta.added));
  value.Set("removed", FilesJson(delta.removed));
  value.Set("added_deletes", DeletesJson(delta.added_deletes));
  value.Set("removed_deletes", DeletesJson(delta.removed_deletes));
  return value;
}

}  // namespace

json::Value ToJson(const Change& change, std::size_t partitions_max) {
  json::Value value = json::Value::Object();
  value.Set("snapshot_id", change.snapshot_id.value);
  value.Set("parent_id", IdJson(change.parent_id));
  value.Set("sequence_number", change.sequence_number.value);
  value.Set("timestamp", change.timestamp.value);
  value.Set("operation", change.operation);
  value.Set("is_own", change.is_own);
  if (change.is_own) value.Set("plan_id", change.plan_id);
  json::Value partitions = json::Value::Array();
  const std::size_t shown = std::min(partitions_max, change.partitions.size());
  for (std::size_t i = 0; i < shown; ++i) partitions.Append(DeltaJson(change.partitions[i]));
  value.Set("partitions", std::move(partitions));
  value.Set("partitions_left_off", static_cast<std::int64_t>(change.partitions.size() - shown));
  return value;
}

json::Value ToJson(const ChangeSet& set, std::size_t changes_max, std::size_t partitions_max) {
  json::Value value = json::Value::Object();
  value.Set("table", set.table);
  value.Set("table_uuid", set.table_uuid);
  value.Set("ref", set.ref);
  value.Set("since", IdJson(set.since));
  value.Set("head", IdJson(set.head));
  value.Set("is_complete", set.is_complete);
  value.Set("reason", set.reason);
  json::Value changes = json::Value::Array();
  const std::size_t shown = std::min(changes_max, set.changes.size());
  for (std::size_t i = set.changes.size() - shown; i < set.changes.size(); ++i) {
    changes.Append(ToJson(set.changes[i], partitions_max));
  }
  value.Set("changes", std::move(changes));
  value.Set("changes_left_off", static_cast<std::int64_t>(set.changes.size() - shown));
  value.Set("manifests_read", set.manifests_read);
  value.Set("entries_read", set.entries_read);
  return value;
}

}  // namespace firn::observe
