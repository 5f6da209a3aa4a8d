// SPDX-License-Identifier: Apache-2.0
#include "observe/facts_json.h"

namespace firn::observe {

json::Value SummaryToJson(const Facts& facts) {
  std::int64_t size_bytes = 0, record_count = 0, delete_manifests = 0, deleted_rows_max = 0;
  for (const auto& file : facts.files) {
    size_bytes += file.size_bytes;
    record_count += file.record_count;
  }
  for (const auto& manifest : facts.manifests) {
    delete_manifests += manifest.file.content == iceberg::ManifestContent::kDeletes ? 1 : 0;
  }
  for (const auto& partition : facts.partitions) deleted_rows_max += partition.deleted_rows_max;
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };

  json::Value value = json::Value::Object();
  value.Set("table", facts.table);
  value.Set("table_uuid", facts.table_uuid);
  value.Set("location", facts.location);
  value.Set("ref", facts.ref);
  value.Set("format_version", facts.format_version);
  value.Set("snapshot_id", facts.snapshot_id ? json::Value(facts.snapshot_id->value) : json::Value());
  value.Set("sequence_number", facts.sequence_number.value);
  value.Set("observed_at", facts.observed_at.value);
  value.Set("data_files", count(facts.files));
  value.Set("size_bytes", size_bytes);
  value.Set("record_count", record_count);
  value.Set("partitions", count(facts.partitions));
  value.Set("manifests", count(facts.manifests));
  value.Set("delete_manifests", delete_manifests);
  value.Set("snapshots", count(facts.snapshots));
  value.Set("position_delete_files", facts.position_delete_files);
  value.Set("deletion_vectors", facts.deletion_vectors);
  value.Set("equality_delete_files", facts.equality_delete_files);
  value.Set("deleted_rows_max", deleted_rows_max);
  value.Set("manifest_entries_read", facts.manifest_entries_read);
  return value;
}

}  // namespace firn::observe
