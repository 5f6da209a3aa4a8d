// SPDX-License-Identifier: Apache-2.0
#include "orient/diagnosis_json.h"

#include <algorithm>

namespace firn::orient {
namespace {

json::Value ToJson(const PartitionDiagnosis& d, const observe::Facts& facts) {
  const auto& partition = facts.partitions[d.partition];
  json::Value value = json::Value::Object();
  value.Set("partition", partition.text);
  value.Set("spec_id", partition.spec_id.value);
  value.Set("file_count", d.file_count);
  value.Set("size_bytes", partition.size_bytes);
  value.Set("small_files", d.small_files);
  value.Set("small_bytes", d.small_bytes);
  value.Set("blocked_files", d.blocked_files);
  value.Set("removable_files", d.removable_files);
  value.Set("fold_files", d.fold_files);
  value.Set("files_with_deletes", d.files_with_deletes);
  value.Set("deleted_rows", d.deleted_rows);
  value.Set("size_mse", d.size_mse);
  value.Set("avoidable_error", d.avoidable_error);
  value.Set("position_delete_files", partition.position_delete_files);
  value.Set("equality_delete_files", partition.equality_delete_files);
  value.Set("deletion_vectors", partition.deletion_vectors);
  return value;
}

}  // namespace

json::Value ToJson(const Diagnosis& diagnosis, const observe::Facts& facts, std::size_t partitions_max) {
  json::Value value = json::Value::Object();
  value.Set("score", diagnosis.score);
  json::Value parts = json::Value::Array();
  for (const auto& part : diagnosis.parts) {
    json::Value line = json::Value::Object();
    line.Set("name", part.name);
    line.Set("score", part.score);
    line.Set("weight", part.weight);
    line.Set("reason", part.reason);
    parts.Append(std::move(line));
  }
  value.Set("parts", std::move(parts));
  value.Set("target_size_bytes", diagnosis.target_size_bytes);
  value.Set("healthy_size_bytes", diagnosis.healthy_size_bytes);
  value.Set("file_count", diagnosis.file_count);
  value.Set("size_bytes", diagnosis.size_bytes);
  value.Set("record_count", diagnosis.record_count);
  value.Set("small_files", diagnosis.small_files);
  value.Set("small_bytes", diagnosis.small_bytes);
  value.Set("blocked_files", diagnosis.blocked_files);
  value.Set("removable_files", diagnosis.removable_files);
  value.Set("fold_files", diagnosis.fold_files);
  value.Set("files_with_deletes", diagnosis.files_with_deletes);
  value.Set("deleted_rows", diagnosis.deleted_rows);
  value.Set("size_mse", diagnosis.size_mse);
  value.Set("entropy", diagnosis.entropy);
  value.Set("avoidable_error", diagnosis.avoidable_error);
  json::Value partitions = json::Value::Array();
  const std::size_t shown = std::min(partitions_max, diagnosis.partitions.size());
  for (std::size_t i = 0; i < shown; ++i) partitions.Append(ToJson(diagnosis.partitions[i], facts));
  value.Set("partitions", std::move(partitions));
  value.Set("partitions_left_off", static_cast<std::int64_t>(diagnosis.partitions.size() - shown));
  return value;
}

}  // namespace firn::orient
