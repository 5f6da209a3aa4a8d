// SPDX-License-Identifier: Apache-2.0
#include "iceberg/snapshot_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "iceberg/table_update.h"

namespace firn::iceberg {
namespace {

Status ReadManifests(const json::Value& value, Snapshot& snapshot) {
  FIRN_ASSIGN(auto list_location, json::FindString(value, "manifest-list"));
  if (list_location) {
    snapshot.manifest_list = std::move(*list_location);
    if (snapshot.manifest_list.empty()) return Error{Code::kCorrupt, "`manifest-list` is empty"};
    return Ok();
  }
  const json::Value* inlined = value.Find("manifests");
  if (inlined == nullptr || !inlined->is_array()) {
    return Error{Code::kCorrupt, "neither `manifest-list` nor `manifests` is there"};
  }
  for (const json::Value& element : inlined->elements()) {
    if (!element.is_string()) return Error{Code::kCorrupt, "`manifests` holds something that is no location"};
    snapshot.manifests.push_back(*element.AsString());
  }
  return Ok();
}

Status ReadOptionalIds(const json::Value& value, Snapshot& snapshot) {
  FIRN_ASSIGN(const auto parent, json::FindInt64(value, "parent-snapshot-id"));
  if (parent && *parent != -1) snapshot.parent_id = SnapshotId(*parent);
  FIRN_ASSIGN(const auto sequence_number, json::FindInt64(value, "sequence-number"));
  snapshot.sequence_number = SequenceNumber(sequence_number.value_or(0));
  FIRN_ASSIGN(const auto schema_id, json::FindInt32(value, "schema-id"));
  if (schema_id) snapshot.schema_id = SchemaId(*schema_id);
  FIRN_ASSIGN(snapshot.first_row_id, json::FindInt64(value, "first-row-id"));
  FIRN_ASSIGN(snapshot.added_rows, json::FindInt64(value, "added-rows"));
  FIRN_ASSIGN(snapshot.key_id, json::FindString(value, "key-id"));
  return Ok();
}

Status ReadSnapshot(const json::Value& value, Snapshot& snapshot) {
  FIRN_TRY(ReadOptionalIds(value, snapshot));
  FIRN_ASSIGN(snapshot.timestamp.value, json::GetInt64(value, "timestamp-ms"));
  FIRN_TRY(ReadManifests(value, snapshot));
  if (const json::Value* summary = value.Find("summary"); summary != nullptr && !summary->is_null()) {
    FIRN_ASSIGN(snapshot.summary, StringMapFromJson(*summary).In("`summary`"));
  }
  return Ok();
}

/// Retention members must be positive, or they would expire everything.
template <class T>
Status CheckPositive(const std::optional<T>& value, std::string_view name) {
  if (value && *value <= 0) return Error{Code::kCorrupt, fmt::format("`{}` is not positive", name)};
  return Ok();
}

Status ReadRetention(const json::Value& value, SnapshotRef& ref) {
  FIRN_ASSIGN(ref.min_snapshots_to_keep, json::FindInt32(value, "min-snapshots-to-keep"));
  FIRN_ASSIGN(ref.max_snapshot_age_ms, json::FindInt64(value, "max-snapshot-age-ms"));
  FIRN_ASSIGN(ref.max_ref_age_ms, json::FindInt64(value, "max-ref-age-ms"));
  FIRN_TRY(CheckPositive(ref.min_snapshots_to_keep, "min-snapshots-to-keep"));
  FIRN_TRY(CheckPositive(ref.max_snapshot_age_ms, "max-snapshot-age-ms"));
  return CheckPositive(ref.max_ref_age_ms, "max-ref-age-ms");
}

bool SameWord(std::string_view lower, std::string_view text) {
  return std::equal(lower.begin(), lower.end(), text.begin(), text.end(),
                    [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b); });
}

Status ReadRef(const json::Value& value, SnapshotRef& ref) {
  FIRN_ASSIGN(const std::int64_t id, json::GetInt64(value, "snapshot-id"));
  ref.snapshot_id = SnapshotId(id);
  FIRN_ASSIGN(const std::string type, json::GetString(value, "type"));
  ref.is_branch = SameWord("branch", type);
  if (!ref.is_branch && !SameWord("tag", type)) {
    return Error{Code::kUnsupported, fmt::format("ref type `{}`", type.substr(0, 80))};
  }
  return ReadRetention(value, ref);
}

}  // namespace

Result<std::vector<std::pair<std::string, std::string>>> StringMapFromJson(const json::Value& value) {
  if (!value.is_object()) return Error{Code::kCorrupt, "is no object"};
  std::vector<std::pair<std::string, std::string>> pairs;
  pairs.reserve(value.members().size());
  for (const auto& [name, text] : value.members()) {
    if (!text.is_string()) return Error{Code::kCorrupt, fmt::format("`{}` is not a string", name.substr(0, 80))};
    pairs.emplace_back(name, *text.AsString());
  }
  return pairs;
}

Result<Snapshot> SnapshotFromJson(const json::Value& value) {
  Snapshot snapshot;
  FIRN_ASSIGN(const std::int64_t id, json::GetInt64(value, "snapshot-id").In("snapshot"));
  snapshot.id = SnapshotId(id);
  if (auto read = ReadSnapshot(value, snapshot); !read) {
    return std::move(read.error()).In(fmt::format("snapshot {}", id));
  }
  return snapshot;
}

json::Value SnapshotToJson(const Snapshot& snapshot, std::int32_t format_version) {
  json::Value value = json::Value::Object();
  if (format_version > 1) value.Set("sequence-number", snapshot.sequence_number.value);
  value.Set("snapshot-id", snapshot.id.value);
  if (snapshot.parent_id) value.Set("parent-snapshot-id", snapshot.parent_id->value);
  value.Set("timestamp-ms", snapshot.timestamp.value);
  json::Value summary = json::Value::Object();
  summary.Set("operation", snapshot.operation());
  for (const auto& [name, text] : snapshot.summary) summary.Set(name, text);
  value.Set("summary", std::move(summary));
  if (!snapshot.manifest_list.empty()) {
    value.Set("manifest-list", snapshot.manifest_list);
  } else {
    json::Value list = json::Value::Array();
    for (const std::string& location : snapshot.manifests) list.Append(location);
    value.Set("manifests", std::move(list));
  }
  if (snapshot.schema_id) value.Set("schema-id", snapshot.schema_id->value);
  if (format_version >= 3) {
    if (snapshot.first_row_id) value.Set("first-row-id", *snapshot.first_row_id);
    if (snapshot.added_rows) value.Set("added-rows", *snapshot.added_rows);
    if (snapshot.key_id) value.Set("key-id", *snapshot.key_id);
  }
  return value;
}

Result<SnapshotRef> SnapshotRefFromJson(std::string name, const json::Value& value) {
  SnapshotRef ref;
  ref.name = std::move(name);
  if (auto read = ReadRef(value, ref); !read) {
    return std::move(read.error()).In(fmt::format("ref `{}`", ref.name.substr(0, 80)));
  }
  return ref;
}

json::Value SnapshotRefToJson(const SnapshotRef& ref) {
  json::Value value = json::Value::Object();
  value.Set("snapshot-id", ref.snapshot_id.value);
  value.Set("type", ref.is_branch ? "branch" : "tag");
  if (ref.min_snapshots_to_keep) value.Set("min-snapshots-to-keep", *ref.min_snapshots_to_keep);
  if (ref.max_snapshot_age_ms) value.Set("max-snapshot-age-ms", *ref.max_snapshot_age_ms);
  if (ref.max_ref_age_ms) value.Set("max-ref-age-ms", *ref.max_ref_age_ms);
  return value;
}

Result<StatisticsFile> StatisticsFileFromJson(const json::Value& value, bool is_partition_statistics) {
  StatisticsFile file;
  file.is_partition_statistics = is_partition_statistics;
  FIRN_ASSIGN(file.snapshot_id.value, json::GetInt64(value, "snapshot-id"));
  FIRN_ASSIGN(file.path, json::GetString(value, "statistics-path"));
  FIRN_ASSIGN(file.file_size_bytes, json::GetInt64(value, "file-size-in-bytes"));
  if (!is_partition_statistics) {
    FIRN_ASSIGN(file.footer_size_bytes, json::GetInt64(value, "file-footer-size-in-bytes"));
  }
  return file;
}

}  // namespace firn::iceberg
