// SPDX-License-Identifier: Apache-2.0
#include "act/snapshot_summary.h"

#include <charconv>
#include <optional>

namespace firn::act {
namespace {

std::optional<std::int64_t> ParseTotal(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

void AddTotal(SummaryMembers& out, const iceberg::Snapshot* parent, std::string_view name, std::int64_t added,
              std::int64_t removed) {
  std::int64_t total = 0;
  if (parent != nullptr) {
    const std::string* text = parent->FindSummary(name);
    const std::optional<std::int64_t> before = text == nullptr ? std::nullopt : ParseTotal(*text);
    if (!before) return;
    total = *before;
  }
  if (__builtin_add_overflow(total, added, &total) || __builtin_sub_overflow(total, removed, &total)) return;
  if (total >= 0) out.emplace_back(name, std::to_string(total));
}

bool IsDeletionVector(const iceberg::DataFile& file) { return file.format == iceberg::FileFormat::kPuffin; }

/// Vectors share a file: only the vector's own bytes count.
std::int64_t ContentSize(const iceberg::DataFile& file) {
  return IsDeletionVector(file) ? file.content_size_bytes.value_or(file.file_size_bytes) : file.file_size_bytes;
}

}  // namespace

void SnapshotCounts::Added(const iceberg::DataFile& file) {
  added_files_size += ContentSize(file);
  switch (file.content) {
    case iceberg::FileContent::kData:
      ++added_data_files;
      added_records += file.record_count;
      break;
    case iceberg::FileContent::kPositionDeletes:
      ++added_delete_files;
      ++(IsDeletionVector(file) ? added_dvs : added_position_delete_files);
      added_position_deletes += file.record_count;
      break;
    case iceberg::FileContent::kEqualityDeletes:
      ++added_delete_files;
      ++added_equality_delete_files;
      added_equality_deletes += file.record_count;
      break;
  }
}

void SnapshotCounts::Removed(const iceberg::DataFile& file) {
  removed_files_size += ContentSize(file);
  switch (file.content) {
    case iceberg::FileContent::kData:
      ++deleted_data_files;
      deleted_records += file.record_count;
      break;
    case iceberg::FileContent::kPositionDeletes:
      ++removed_delete_files;
      ++(IsDeletionVector(file) ? removed_dvs : removed_position_delete_files);
      removed_position_deletes += file.record_count;
      break;
    case iceberg::FileContent::kEqualityDeletes:
      ++removed_delete_files;
      ++removed_equality_delete_files;
      removed_equality_deletes += file.record_count;
      break;
  }
}

void SnapshotCounts::Merge(const SnapshotCounts& other) {
  using Count = std::int64_t SnapshotCounts::*;
  constexpr Count kCounts[] = {&SnapshotCounts::added_data_files,
                               &SnapshotCounts::deleted_data_files,
                               &SnapshotCounts::added_records,
                               &SnapshotCounts::deleted_records,
                               &SnapshotCounts::added_files_size,
                               &SnapshotCounts::removed_files_size,
                               &SnapshotCounts::added_delete_files,
                               &SnapshotCounts::removed_delete_files,
                               &SnapshotCounts::added_equality_delete_files,
                               &SnapshotCounts::removed_equality_delete_files,
                               &SnapshotCounts::added_position_delete_files,
                               &SnapshotCounts::removed_position_delete_files,
                               &SnapshotCounts::added_dvs,
                               &SnapshotCounts::removed_dvs,
                               &SnapshotCounts::added_position_deletes,
                               &SnapshotCounts::removed_position_deletes,
                               &SnapshotCounts::added_equality_deletes,
                               &SnapshotCounts::removed_equality_deletes,
                               &SnapshotCounts::manifests_created,
                               &SnapshotCounts::manifests_kept,
                               &SnapshotCounts::manifests_replaced,
                               &SnapshotCounts::entries_processed};
  for (const Count count : kCounts) this->*count += other.*count;
  changed_partitions.insert(other.changed_partitions.begin(), other.changed_partitions.end());
}

SummaryMembers SummaryOf(const SnapshotCounts& c, const iceberg::Snapshot* parent) {
  SummaryMembers out;
  const auto add = [&out](std::string_view name, std::int64_t value) {
    if (value > 0) out.emplace_back(name, std::to_string(value));
  };
  add("added-data-files", c.added_data_files);
  add("deleted-data-files", c.deleted_data_files);
  add("added-equality-delete-files", c.added_equality_delete_files);
  add("removed-equality-delete-files", c.removed_equality_delete_files);
  add("added-position-delete-files", c.added_position_delete_files);
  add("removed-position-delete-files", c.removed_position_delete_files);
  add("added-dvs", c.added_dvs);
  add("removed-dvs", c.removed_dvs);
  add("added-delete-files", c.added_delete_files);
  add("removed-delete-files", c.removed_delete_files);
  add("added-records", c.added_records);
  add("deleted-records", c.deleted_records);
  add("added-files-size", c.added_files_size);
  add("removed-files-size", c.removed_files_size);
  add("added-position-deletes", c.added_position_deletes);
  add("removed-position-deletes", c.removed_position_deletes);
  add("added-equality-deletes", c.added_equality_deletes);
  add("removed-equality-deletes", c.removed_equality_deletes);
  out.emplace_back("changed-partition-count", std::to_string(c.changed_partitions.size()));
  out.emplace_back("manifests-created", std::to_string(c.manifests_created));
  out.emplace_back("manifests-kept", std::to_string(c.manifests_kept));
  out.emplace_back("manifests-replaced", std::to_string(c.manifests_replaced));
  out.emplace_back("entries-processed", std::to_string(c.entries_processed));

  AddTotal(out, parent, "total-records", c.added_records, c.deleted_records);
  AddTotal(out, parent, "total-files-size", c.added_files_size, c.removed_files_size);
  AddTotal(out, parent, "total-data-files", c.added_data_files, c.deleted_data_files);
  AddTotal(out, parent, "total-delete-files", c.added_delete_files, c.removed_delete_files);
  AddTotal(out, parent, "total-position-deletes", c.added_position_deletes, c.removed_position_deletes);
  AddTotal(out, parent, "total-equality-deletes", c.added_equality_deletes, c.removed_equality_deletes);
  return out;
}

}  // namespace firn::act
