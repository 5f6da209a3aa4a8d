// SPDX-License-Identifier: Apache-2.0
#include "cli/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <utility>

#include "cli/facts_text.h"
#include "observe/manifest_scan.h"
#include "observe/missing_ref.h"
#include "observe/observe.h"

namespace firn::cli {
namespace {

using iceberg::FileContent;
using iceberg::TableMetadata;

template <class T>
Cell Optional(const std::optional<T>& value) {
  if (!value) return std::monostate{};
  return static_cast<std::int64_t>(*value);
}

std::string ContentName(FileContent content) {
  switch (content) {
    case FileContent::kData: return "data";
    case FileContent::kPositionDeletes: return "position deletes";
    case FileContent::kEqualityDeletes: return "equality deletes";
  }
  return "";
}

Result<const iceberg::Snapshot*> SnapshotOf(const TableMetadata& metadata, const std::string& ref) {
  if (const iceberg::Snapshot* snapshot = metadata.RefSnapshot(ref)) return snapshot;
  if (ref == "main") return nullptr;  // an empty table
  return observe::MissingRef(metadata, ref);
}

std::string RefNames(const TableMetadata& metadata, SnapshotId id) {
  std::vector<std::string> names;
  for (const auto& ref : metadata.refs()) {
    if (ref.snapshot_id == id) names.push_back(ref.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Cell SummaryNumber(const iceberg::Snapshot& snapshot, std::string_view key) {
  const std::string* text = snapshot.FindSummary(key);
  if (text == nullptr) return std::monostate{};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc{} || end != text->data() + text->size()) return std::monostate{};
  return number;
}

/// Greater is newer; version 1 has no sequence numbers.
std::pair<SequenceNumber, TimestampMs> AgeOf(const iceberg::Snapshot& snapshot) {
  return {snapshot.sequence_number, snapshot.timestamp};
}

/// Newest first; metadata may have them in any order.
std::vector<const iceberg::Snapshot*> NewestFirst(const TableMetadata& metadata) {
  std::vector<const iceberg::Snapshot*> snapshots;
  for (const auto& snapshot : metadata.snapshots()) snapshots.push_back(&snapshot);
  std::ranges::reverse(snapshots);
  std::ranges::stable_sort(snapshots, std::ranges::greater(), [](const auto* snapshot) { return AgeOf(*snapshot); });
  return snapshots;
}

void ListSnapshots(const TableMetadata& metadata, Listing& listing) {
  for (const iceberg::Snapshot* found : NewestFirst(metadata)) {
    const iceberg::Snapshot& snapshot = *found;
    const std::string* plan = snapshot.FindSummary("firn.plan-id");
    listing.AddRow({snapshot.id, snapshot.parent_id ? Cell(*snapshot.parent_id) : Cell(), snapshot.timestamp,
                    snapshot.operation(), SummaryNumber(snapshot, "added-data-files"),
                    SummaryNumber(snapshot, "deleted-data-files"), SummaryNumber(snapshot, "total-data-files"),
                    SummaryNumber(snapshot, "total-records"), RefNames(metadata, snapshot.id),
                    plan != nullptr ? Cell(*plan) : Cell()});
  }
}

void ListRefs(const TableMetadata& metadata, Listing& listing) {
  for (const auto& ref : metadata.refs()) {
    const iceberg::Snapshot* snapshot = metadata.FindSnapshot(ref.snapshot_id);
    listing.AddRow({ref.name, std::string(ref.is_branch ? "branch" : "tag"), ref.snapshot_id,
                    snapshot != nullptr ? Cell(snapshot->timestamp) : Cell(), Optional(ref.max_ref_age_ms),
                    Optional(ref.max_snapshot_age_ms), Optional(ref.min_snapshots_to_keep)});
  }
}

void ListStatistics(const TableMetadata& metadata, Listing& listing) {
  const auto age = [&](const iceberg::StatisticsFile* file) {
    const iceberg::Snapshot* snapshot = metadata.FindSnapshot(file->snapshot_id);
    return snapshot == nullptr ? std::pair<SequenceNumber, TimestampMs>() : AgeOf(*snapshot);
  };
  std::vector<const iceberg::StatisticsFile*> files;
  for (const auto& file : metadata.statistics()) files.push_back(&file);
  std::ranges::stable_sort(files, std::ranges::greater(), age);
  for (const iceberg::StatisticsFile* found : files) {
    const iceberg::StatisticsFile& file = *found;
    listing.AddRow({file.snapshot_id, std::string(file.is_partition_statistics ? "partition" : "table"),
                    ByteCount{file.file_size_bytes}, file.path});
  }
}

Status ListManifests(const TableMetadata& metadata, const iceberg::Snapshot& snapshot, ports::FileIO& io,
                     Listing& listing) {
  FIRN_ASSIGN(const auto manifests, observe::ReadManifests(io, snapshot, metadata));
  for (const auto& m : manifests) {
    listing.AddRow({std::string(m.content == iceberg::ManifestContent::kData ? "data" : "deletes"),
                    std::int64_t{m.spec_id.value}, ByteCount{m.manifest_length}, m.sequence_number.value,
                    m.min_sequence_number.value, m.added_snapshot_id, Optional(m.added_files_count),
                    Optional(m.existing_files_count), Optional(m.deleted_files_count), m.manifest_path});
  }
  return Ok();
}

Status ListFiles(const TableMetadata& metadata, const iceberg::Snapshot& snapshot, ports::FileIO& io,
                 Listing& listing) {
  FIRN_ASSIGN(const auto manifests, observe::ReadManifests(io, snapshot, metadata));
  const iceberg::Wanted members{.metrics = false, .file_path = true, .split_offsets = false};
  for (const auto& manifest : manifests) {
    const auto visit = [&](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
      if (entry.status == iceberg::EntryStatus::kDeleted) return true;
      const auto& file = entry.file;
      const iceberg::PartitionSpec* spec = metadata.FindSpec(file.spec_id);
      listing.AddRow({ContentName(file.content), file.format_text, file.record_count, ByteCount{file.file_size_bytes},
                      std::int64_t{file.spec_id.value},
                      spec == nullptr ? std::string("?")
                                      : iceberg::PartitionText(*spec, metadata.current_schema(), file.partition),
                      entry.sequence_number ? Cell(entry.sequence_number->value) : Cell(),
                      file.sort_order_id ? Cell(std::int64_t{file.sort_order_id->value}) : Cell(), file.file_path});
      return true;
    };
    FIRN_TRY(observe::ForEachEntry(io, manifest, metadata, members, visit));
  }
  return Ok();
}

Status ListPartitions(const ports::LoadedTable& table, ports::FileIO& io, const std::string& ref, TimestampMs now,
                      Listing& listing) {
  observe::ObserveOptions options;
  options.ref = ref;
  FIRN_ASSIGN(const auto facts, observe::Observe(table, io, options, now));
  for (const auto& partition : facts.partitions) {
    listing.AddRow({partition.text, std::int64_t{partition.spec_id.value}, partition.file_count,
                    ByteCount{partition.size_bytes}, partition.record_count, partition.position_delete_files,
                    partition.deletion_vectors, partition.equality_delete_files, partition.deleted_rows_max});
  }
  return Ok();
}

constexpr std::array<std::string_view, 6> kSubjects = {"snapshots", "refs",       "manifests",
                                                       "files",     "partitions", "statistics"};

}  // namespace

std::optional<Subject> ParseSubject(std::string_view text) {
  const auto found = std::find(kSubjects.begin(), kSubjects.end(), text);
  if (found == kSubjects.end()) return std::nullopt;
  return static_cast<Subject>(found - kSubjects.begin());
}

std::vector<std::string> ColumnsOf(Subject subject) {
  switch (subject) {
    case Subject::kSnapshots:
      return {"snapshot_id",   "parent_id", "committed", "operation", "added_files",
              "deleted_files", "files",     "rows",      "refs",      "firn_plan_id"};
    case Subject::kRefs:
      return {
          "name", "kind", "snapshot_id", "committed", "max_ref_age_ms", "max_snapshot_age_ms", "min_snapshots_to_keep"};
    case Subject::kManifests:
      return {"content",           "spec_id", "size",     "sequence_number", "min_sequence_number",
              "added_snapshot_id", "added",   "existing", "deleted",         "path"};
    case Subject::kFiles:
      return {"content", "format", "rows", "size", "spec_id", "partition", "sequence_number", "sort_order_id", "path"};
    case Subject::kPartitions:
      return {"partition",
              "spec_id",
              "files",
              "size",
              "rows",
              "position_delete_files",
              "deletion_vectors",
              "equality_delete_files",
              "deleted_rows_at_most"};
    case Subject::kStatistics: return {"snapshot_id", "kind", "size", "path"};
  }
  return {};
}

Status Inspect(Subject subject, const ports::LoadedTable& table, ports::FileIO& io, const std::string& ref,
               TimestampMs now, Listing& listing) {
  const TableMetadata& metadata = *table.metadata;
  switch (subject) {
    case Subject::kSnapshots: ListSnapshots(metadata, listing); return Ok();
    case Subject::kRefs: ListRefs(metadata, listing); return Ok();
    case Subject::kStatistics: ListStatistics(metadata, listing); return Ok();
    default: break;
  }
  FIRN_ASSIGN(const iceberg::Snapshot* snapshot, SnapshotOf(metadata, ref));
  if (snapshot == nullptr) return Ok();
  if (subject == Subject::kManifests) return ListManifests(metadata, *snapshot, io, listing);
  if (subject == Subject::kFiles) return ListFiles(metadata, *snapshot, io, listing);
  return ListPartitions(table, io, ref, now, listing);
}

}  // namespace firn::cli
