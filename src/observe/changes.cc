// SPDX-License-Identifier: Apache-2.0
#include "observe/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_set>
#include <utility>

#include "iceberg/delete_index.h"
#include "observe/facts.h"
#include "observe/manifest_scan.h"
#include "observe/missing_ref.h"
#include "observe/partitioning.h"

namespace firn::observe {
namespace {

using iceberg::DeleteKind;
using iceberg::EntryStatus;
using iceberg::ManifestContent;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;
using iceberg::PartitionSpec;
using iceberg::Snapshot;
using iceberg::TableMetadata;

constexpr std::int64_t kFileBytesMax = std::int64_t{1} << 56;  // more is no file: sums stay in 64 bits

/// Live files as a manifest list counts them; absent when a line does not say.
struct LiveCounts {
  std::optional<std::int64_t> data = 0, deletes = 0;
  std::optional<std::int64_t>& of(ManifestContent content) {
    return content == ManifestContent::kData ? data : deletes;
  }
};

LiveCounts LiveCountsOf(const std::vector<ManifestFile>& lines) {
  LiveCounts counts;
  for (const ManifestFile& line : lines) {
    std::optional<std::int64_t>& count = counts.of(line.content);
    if (!line.added_files_count || !line.existing_files_count) {
      count.reset();
    } else if (count) {
      *count += std::int64_t{*line.added_files_count} + *line.existing_files_count;
    }
  }
  return counts;
}

std::uint16_t FlagsOfSpec(const PartitionSpec& spec, std::int32_t format_version) {
  std::uint16_t flags = format_version >= 3 ? kHasRowLineage : 0;
  const auto is_unknown = [](const iceberg::PartitionField& field) {
    return field.transform.kind == iceberg::TransformKind::kUnknown;
  };
  if (std::ranges::any_of(spec.fields, is_unknown)) flags |= kUnknownTransform;
  return flags;
}

void Count(const iceberg::DataFile& file, ChangedDeletes& deletes) {
  const DeleteKind kind = iceberg::KindOf(file);
  switch (kind) {
    case DeleteKind::kPositions: ++deletes.position_files; break;
    case DeleteKind::kVector: ++deletes.vectors; break;
    case DeleteKind::kEquality: ++deletes.equality_files; break;
  }
  if (kind != DeleteKind::kEquality) deletes.rows += std::max<std::int64_t>(0, file.record_count);
}

/// What a set cannot be made from: the reason, not an error of the caller.
bool SaysTheTableIsBroken(Code code) { return code == Code::kCorrupt || code == Code::kNotFound; }

class ChangeReader {
 public:
  ChangeReader(const TableMetadata& metadata, ports::FileIO& io, const ChangesOptions& options, ChangeSet& set)
      : metadata_(metadata), io_(io), options_(options), set_(set) {}

  Status Run();

 private:
  void GiveUp(std::string reason) {
    set_.is_complete = false;
    set_.reason = std::move(reason);
    set_.changes.clear();
  }
  void GiveUpAt(SnapshotId snapshot, std::string_view why) {
    GiveUp(fmt::format("snapshot {}: {}", snapshot.value, why));
    set_.broken_at = snapshot;
  }
  std::vector<const Snapshot*> SnapshotsSince();
  std::string WhyNotReached(const Snapshot* last) const;
  Status ReadBefore();
  Result<bool> ReadLines(const Snapshot& snapshot, std::vector<ManifestFile>& lines);
  Result<bool> ReadSnapshot(const Snapshot& snapshot);
  Status ReadManifest(const ManifestFile& line, Change& change);
  Status Take(const ManifestFile& line, const ManifestEntry& entry, std::int64_t ordinal, Change& change);
  PartitionDelta& DeltaOf(const ManifestFile& line, const ManifestEntry& entry, Change& change);

  const TableMetadata& metadata_;
  ports::FileIO& io_;
  const ChangesOptions& options_;
  ChangeSet& set_;
  std::vector<ManifestFile> before_;  // lines of the snapshot before
  LiveCounts live_before_{.data = std::nullopt, .deletes = std::nullopt};
  std::map<std::pair<SpecId, std::string>, std::size_t> places_;
  LiveCounts delta_;  // added - removed in this snapshot
};

/// Oldest first; gives up when `since` is not reached.
std::vector<const Snapshot*> ChangeReader::SnapshotsSince() {
  std::vector<const Snapshot*> path;
  // Bounded by the number of snapshots: a broken table may hold a circle of parents.
  const Snapshot* last = nullptr;
  std::optional<SnapshotId> next = set_.head;
  while (next != options_.since) {
    const Snapshot* snapshot = next ? metadata_.FindSnapshot(*next) : nullptr;
    if (snapshot == nullptr || path.size() >= metadata_.snapshots().size()) {
      GiveUp(WhyNotReached(last));
      return {};
    }
    path.push_back(snapshot);
    last = snapshot;
    next = snapshot->parent_id;
  }
  if (static_cast<std::int64_t>(path.size()) > options_.snapshots_max) {
    GiveUp(fmt::format("too many changes: {} snapshots, at most {} are read", path.size(), options_.snapshots_max));
    return {};
  }
  std::ranges::reverse(path);
  return path;
}

std::string ChangeReader::WhyNotReached(const Snapshot* last) const {
  const std::string head = set_.head ? fmt::format("snapshot {}", set_.head->value) : "an empty table";
  if (!options_.since) return fmt::format("the history of {} does not reach back to the empty table", head);
  if (metadata_.FindSnapshot(*options_.since) != nullptr) {
    return fmt::format("rolled back or replaced: snapshot {} is not in the history of {}", options_.since->value, head);
  }
  const bool is_cut = last != nullptr && last->parent_id && metadata_.FindSnapshot(*last->parent_id) == nullptr;
  return fmt::format("{}: snapshot {} is not known any more, and the history of {} does not reach it",
                     is_cut ? "history expired" : "rolled back or replaced", options_.since->value, head);
}

/// False when the list is missing or broken.
Result<bool> ChangeReader::ReadLines(const Snapshot& snapshot, std::vector<ManifestFile>& lines) {
  auto read = ReadManifests(io_, snapshot, metadata_);
  if (!read) {
    if (!SaysTheTableIsBroken(read.error().code)) return std::move(read.error());
    GiveUpAt(snapshot.id, read.error().message);
    return false;
  }
  lines = std::move(*read);
  return true;
}

/// What the first new snapshot is compared with. It may be expired: then there is nothing to compare.
Status ChangeReader::ReadBefore() {
  if (!options_.since) {
    live_before_ = {};
    return Ok();
  }
  const Snapshot* snapshot = metadata_.FindSnapshot(*options_.since);
  if (snapshot == nullptr) return Ok();
  auto lines = ReadManifests(io_, *snapshot, metadata_);
  if (!lines) return SaysTheTableIsBroken(lines.error().code) ? Ok() : Status(std::move(lines.error()));
  before_ = std::move(*lines);
  live_before_ = LiveCountsOf(before_);
  return Ok();
}

PartitionDelta& ChangeReader::DeltaOf(const ManifestFile& line, const ManifestEntry& entry, Change& change) {
  // Most entries share the partition of the one before.
  if (!change.partitions.empty()) {
    PartitionDelta& last = change.partitions.back();
    if (last.spec_id == line.spec_id && iceberg::SameTuple(last.tuple, entry.file.partition)) return last;
  }
  const auto [found, is_new] =
      places_.try_emplace({line.spec_id, iceberg::TupleKey(entry.file.partition)}, change.partitions.size());
  if (!is_new) return change.partitions[found->second];
  const PartitionSpec& spec = *metadata_.FindSpec(line.spec_id);
  PartitionDelta& delta = change.partitions.emplace_back();
  delta.spec_id = line.spec_id;
  delta.tuple = entry.file.partition;
  delta.text = iceberg::PartitionText(spec, metadata_.current_schema(), delta.tuple);
  delta.is_unpartitioned = spec.is_unpartitioned();
  return delta;
}

Status ChangeReader::Take(const ManifestFile& line, const ManifestEntry& entry, std::int64_t ordinal, Change& change) {
  const bool is_added = entry.status == EntryStatus::kAdded;
  const iceberg::DataFile& file = entry.file;
  if (file.file_size_bytes < 0 || file.file_size_bytes > kFileBytesMax) {
    return BadEntry(line, ordinal, fmt::format("a file of {} bytes", file.file_size_bytes));
  }
  PartitionDelta& delta = DeltaOf(line, entry, change);
  if (auto& count = delta_.of(line.content)) *count += is_added ? 1 : -1;
  if (line.content == ManifestContent::kDeletes) {
    Count(file, is_added ? delta.added_deletes : delta.removed_deletes);
    return Ok();
  }
  ChangedFile changed;
  changed.size_bytes = file.file_size_bytes;
  changed.record_count = file.record_count;
  changed.flags = FlagsOfSpec(*metadata_.FindSpec(line.spec_id), metadata_.format_version());
  if (file.format != iceberg::FileFormat::kParquet) changed.flags |= kNotParquet;
  if (file.key_metadata) changed.flags |= kEncrypted;
  (is_added ? delta.added : delta.removed).push_back(changed);
  return Ok();
}

Status ChangeReader::ReadManifest(const ManifestFile& line, Change& change) {
  if (metadata_.FindSpec(line.spec_id) == nullptr) {
    return Error{Code::kCorrupt, fmt::format("{}: manifest is of spec {}, which the table does not have",
                                             line.manifest_path, line.spec_id.value)};
  }
  ++set_.manifests_read;
  const iceberg::Wanted wanted{.metrics = false, .file_path = false, .split_offsets = false};
  return ForEachEntry(io_, line, metadata_, wanted, [&](ManifestEntry& entry, std::int64_t ordinal) -> Result<bool> {
    if (++set_.entries_read > options_.entries_max) return false;
    if (entry.status == EntryStatus::kExisting || entry.snapshot_id != change.snapshot_id) return true;
    FIRN_TRY(Take(line, entry, ordinal, change));
    return true;
  });
}

/// Whether a manifest can hold entries that the snapshot made.
bool MayHaveChanges(const ManifestFile& line, SnapshotId snapshot_id, const std::unordered_set<std::string>& before) {
  // Snapshots that name their manifests inline, and old lists, do not say who added them.
  const bool tells = line.added_files_count.has_value() && line.deleted_files_count.has_value();
  if (tells && *line.added_files_count == 0 && *line.deleted_files_count == 0) return false;
  if (line.added_snapshot_id == snapshot_id || line.added_snapshot_id.value == 0) {
    return !before.contains(line.manifest_path);
  }
  return false;
}

Result<bool> ChangeReader::ReadSnapshot(const Snapshot& snapshot) {
  Change change;
  change.snapshot_id = snapshot.id;
  change.parent_id = snapshot.parent_id;
  change.sequence_number = snapshot.sequence_number;
  change.timestamp = snapshot.timestamp;
  change.operation = snapshot.operation();
  if (const std::string* plan_id = snapshot.FindSummary("firn.plan-id")) {
    change.is_own = true;
    change.plan_id = *plan_id;
  }
  std::vector<ManifestFile> lines;
  FIRN_ASSIGN(const bool has_lines, ReadLines(snapshot, lines));
  if (!has_lines) return false;
  std::unordered_set<std::string> before;
  for (const ManifestFile& line : before_) before.insert(line.manifest_path);
  places_.clear();
  delta_ = {};
  for (const ManifestFile& line : lines) {
    if (!MayHaveChanges(line, snapshot.id, before)) continue;
    if (const Status read = ReadManifest(line, change); !read) {
      if (!SaysTheTableIsBroken(read.error().code)) return read.error();
      GiveUpAt(snapshot.id, read.error().message);
      return false;
    }
    if (set_.entries_read > options_.entries_max) {
      GiveUp(fmt::format("too many changes: more than {} manifest entries", options_.entries_max));
      return false;
    }
  }
  LiveCounts live = LiveCountsOf(lines);
  for (const ManifestContent content : {ManifestContent::kData, ManifestContent::kDeletes}) {
    const auto &was = live_before_.of(content), &is = live.of(content), &delta = delta_.of(content);
    if (!was || !is || *was + *delta == *is) continue;
    GiveUpAt(snapshot.id, fmt::format("its {} manifests hold {} files, but {} before and {:+} by its entries",
                                      content == ManifestContent::kData ? "data" : "delete", *is, *was, *delta));
    return false;
  }
  before_ = std::move(lines);
  live_before_ = live;
  set_.changes.push_back(std::move(change));
  return true;
}

Status ChangeReader::Run() {
  if (!options_.table_uuid.empty() && options_.table_uuid != metadata_.table_uuid()) {
    GiveUp(
        fmt::format("another table has the name now: {} instead of {}", metadata_.table_uuid(), options_.table_uuid));
    return Ok();
  }
  const std::vector<const Snapshot*> path = SnapshotsSince();
  if (path.empty()) return Ok();
  FIRN_TRY(ReadBefore());
  for (const Snapshot* snapshot : path) {
    FIRN_ASSIGN(const bool go_on, ReadSnapshot(*snapshot));
    if (!go_on) return Ok();
  }
  return Ok();
}

}  // namespace

Result<ChangeSet> ReadChanges(const ports::LoadedTable& table, ports::FileIO& io, const ChangesOptions& options) {
  const TableMetadata& metadata = *table.metadata;
  ChangeSet set;
  set.table = table.id.name.empty() ? metadata.location() : ports::ToString(table.id);
  set.table_uuid = metadata.table_uuid();
  set.ref = options.ref;
  set.since = options.since;
  set.partitioning = PartitioningOf(metadata);
  const Snapshot* head = metadata.RefSnapshot(options.ref);
  if (head == nullptr && options.ref != "main") {
    return MissingRef(metadata, options.ref).In(set.table);
  }
  if (head != nullptr) set.head = options.until.value_or(head->id);
  FIRN_TRY(ChangeReader(metadata, io, options, set).Run().In(set.table));
  return set;
}

}  // namespace firn::observe
