// SPDX-License-Identifier: Apache-2.0
#include "observe/observe.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "iceberg/delete_index.h"
#include "observe/duplicates.h"
#include "observe/manifest_scan.h"
#include "observe/missing_ref.h"
#include "observe/partition_table.h"
#include "observe/partitioning.h"

namespace firn::observe {
namespace {

using iceberg::DataFile;
using iceberg::DeleteKind;
using iceberg::EntryStatus;
using iceberg::ManifestContent;
using iceberg::ManifestEntry;
using iceberg::TableMetadata;

bool HasUnknownTransform(const iceberg::PartitionSpec& spec) {
  return std::ranges::any_of(spec.fields, [](const iceberg::PartitionField& field) {
    return field.transform.kind == iceberg::TransformKind::kUnknown;
  });
}

struct FoundDelete {
  iceberg::DeleteEntry entry;
  bool is_counted = false;  // false: outside of the filter, but it may name a file inside
};

class Observer {
 public:
  Observer(const TableMetadata& metadata, ports::FileIO& io, const ObserveOptions& options, Facts& facts)
      : metadata_(metadata), io_(io), options_(options), facts_(facts), partitions_(metadata) {}

  Status Run(const iceberg::Snapshot& snapshot);

 private:
  Status ReadDeletes(const std::vector<std::size_t>& manifests);
  Status ReadDeleteManifest(std::size_t index, std::vector<FoundDelete>& deletes);
  Status ReadDataManifest(std::size_t index);
  int Inspect(const ManifestEntry& entry, DataFileFacts& file) const;
  bool IsWanted(const iceberg::ManifestFile& line) const;
  std::vector<std::size_t> LiveManifests(ManifestContent content) const;
  Status ReadEach(const std::vector<std::size_t>& manifests, const std::function<Status(std::size_t)>& read);
  Status Read(std::size_t index, iceberg::Wanted wanted,
              const std::function<Status(ManifestEntry&, std::int64_t)>& visit);
  void Report(std::int64_t entries_read);

  const TableMetadata& metadata_;
  ports::FileIO& io_;
  const ObserveOptions& options_;
  Facts& facts_;
  PartitionTable partitions_;
  iceberg::DeleteIndex deletes_;
  LivePaths paths_;
  std::mutex mutex_;  // of the sums in facts_, and of progress
  ObserveProgress progress_;
};

bool Observer::IsWanted(const iceberg::ManifestFile& line) const {
  if (!options_.manifest_filter) return true;
  const iceberg::PartitionSpec* spec = metadata_.FindSpec(line.spec_id);
  if (spec == nullptr) return true;  // reading it tells what is wrong
  const bool reaches_all = line.content == ManifestContent::kDeletes && spec->is_unpartitioned();
  return reaches_all || options_.manifest_filter(line);
}

std::vector<std::size_t> Observer::LiveManifests(ManifestContent content) const {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < facts_.manifests.size(); ++i) {
    const iceberg::ManifestFile& line = facts_.manifests[i].file;
    if (line.content == content && MayHaveLiveFiles(line) && IsWanted(line)) indexes.push_back(i);
  }
  return indexes;
}

Status Observer::ReadEach(const std::vector<std::size_t>& manifests, const std::function<Status(std::size_t)>& read) {
  return ForEachManifest(
      manifests.size(), options_.threads,
      [&](std::size_t i) -> const iceberg::ManifestFile& { return facts_.manifests[manifests[i]].file; }, read);
}

void Observer::Report(std::int64_t entries_read) {
  const std::lock_guard lock(mutex_);
  ++progress_.manifests_done;
  progress_.entries_read += entries_read;
  if (options_.progress) options_.progress(progress_);
}

/// Gives the live entries of a manifest to `visit`.
Status Observer::Read(std::size_t index, iceberg::Wanted wanted,
                      const std::function<Status(ManifestEntry&, std::int64_t)>& visit) {
  ManifestFacts& manifest = facts_.manifests[index];
  std::int64_t entries = 0;
  const auto visit_live = [&](ManifestEntry& entry, std::int64_t ordinal) -> Result<bool> {
    ++entries;
    if (entry.status == EntryStatus::kDeleted) return true;
    if (!entry.sequence_number) {
      return BadEntry(manifest.file, ordinal, "live file without a sequence number");
    }
    if (ordinal > std::numeric_limits<std::uint32_t>::max()) {
      return Error{Code::kLimit, manifest.file.manifest_path + ": too many entries"};
    }
    ++manifest.live_files;
    FIRN_TRY(visit(entry, ordinal));
    return true;
  };
  FIRN_TRY(ForEachEntry(io_, manifest.file, metadata_, wanted, visit_live));
  Report(entries);
  return Ok();
}

Status Observer::ReadDeleteManifest(std::size_t index, std::vector<FoundDelete>& deletes) {
  const SpecId spec_id = facts_.manifests[index].file.spec_id;
  const bool is_global = metadata_.FindSpec(spec_id)->is_unpartitioned();
  ManifestPartitions own(spec_id, options_.partition_filter);
  FIRN_TRY(Read(index, {.metrics = false, .split_offsets = false, .position_path_bounds = true},
                [&](ManifestEntry& entry, std::int64_t) -> Status {
                  const DataFile& file = entry.file;
                  const std::uint32_t partition = own.Find(file.partition);
                  const DeleteKind kind = iceberg::KindOf(file);
                  const bool reaches_all = is_global && kind == DeleteKind::kEquality;
                  const bool is_counted = own.IsWanted(partition) || reaches_all;
                  if (!is_counted && !file.referenced_data_file) return Ok();
                  deletes.push_back({{file, *entry.sequence_number}, is_counted});
                  PartitionFacts& sums = own.at(partition);
                  switch (kind) {
                    case DeleteKind::kPositions: ++sums.position_delete_files; break;
                    case DeleteKind::kVector: ++sums.deletion_vectors; break;
                    case DeleteKind::kEquality: ++sums.equality_delete_files; break;
                  }
                  if (kind != DeleteKind::kEquality) sums.deleted_rows_max += file.record_count;
                  return Ok();
                }));
  partitions_.Merge(std::move(own), {});
  return Ok();
}

Status Observer::ReadDeletes(const std::vector<std::size_t>& manifests) {
  std::vector<std::vector<FoundDelete>> found(manifests.size());
  FIRN_TRY(ReadEach(manifests, [&](std::size_t i) { return ReadDeleteManifest(manifests[i], found[i]); }));
  for (std::size_t i = 0; i < manifests.size(); ++i) {
    const bool is_global = metadata_.FindSpec(facts_.manifests[manifests[i]].file.spec_id)->is_unpartitioned();
    for (auto& [entry, is_counted] : found[i]) {
      if (is_counted) {
        switch (iceberg::KindOf(entry.file)) {
          case DeleteKind::kPositions: ++facts_.position_delete_files; break;
          case DeleteKind::kVector: ++facts_.deletion_vectors; break;
          case DeleteKind::kEquality: ++facts_.equality_delete_files; break;
        }
      }
      deletes_.Add(std::move(entry), is_global);
    }
    found[i] = {};
  }
  deletes_.Build();
  return Ok();
}

/// The file's own flags; counts its deletes.
int Observer::Inspect(const ManifestEntry& entry, DataFileFacts& file) const {
  int flags = 0;
  if (entry.file.format != iceberg::FileFormat::kParquet) flags |= kNotParquet;
  if (entry.file.key_metadata) flags |= kEncrypted;
  if (!deletes_.empty()) {
    const iceberg::DeleteIndex::Kinds kinds = deletes_.FindKinds(entry.file, *entry.sequence_number);
    if (kinds.positions) flags |= kHasPositionDeletes;
    if (kinds.vector) flags |= kHasDeletionVector;
    if (kinds.equality) flags |= kHasEqualityDeletes;
    if (kinds.any()) {
      const auto tally =
          deletes_.Count(entry.file, *entry.sequence_number, entry.file_sequence_number.value_or(SequenceNumber(0)));
      file.delete_files = tally.delete_files;
      file.deleted_rows = tally.deleted_rows;
      if (tally.may_delete_more) flags |= kMayHaveMoreDeletes;
    }
    if (deletes_.FindMisplaced(entry.file, *entry.sequence_number).any()) flags |= kHasMisplacedDeletes;
  }
  return flags;
}

Status Observer::ReadDataManifest(std::size_t index) {
  const SpecId spec_id = facts_.manifests[index].file.spec_id;
  const int flags_of_all = (metadata_.format_version() >= 3 ? kHasRowLineage : 0) |
                           (HasUnknownTransform(*metadata_.FindSpec(spec_id)) ? kUnknownTransform : 0);
  iceberg::Wanted wanted = iceberg::Wanted::planning();
  wanted.file_path = options_.check_duplicates || !deletes_.empty();
  ManifestPartitions own(spec_id, options_.partition_filter);
  std::vector<DataFileFacts> files;
  FIRN_TRY(Read(index, wanted, [&](ManifestEntry& entry, std::int64_t ordinal) -> Status {
    const std::uint32_t partition = own.Find(entry.file.partition);
    if (!own.IsWanted(partition)) return Ok();
    DataFileFacts& file = files.emplace_back();
    file.manifest = static_cast<std::uint32_t>(index);
    file.ordinal = static_cast<std::uint32_t>(ordinal);
    file.partition = partition;
    file.flags = static_cast<std::uint16_t>(flags_of_all | Inspect(entry, file));
    file.sort_order_id = entry.file.sort_order_id.value_or(SortOrderId(0)).value;
    file.size_bytes = entry.file.file_size_bytes;
    file.record_count = entry.file.record_count;
    file.data_sequence_number = entry.sequence_number->value;
    PartitionFacts& sums = own.at(partition);
    ++sums.file_count;
    sums.size_bytes += file.size_bytes;
    sums.record_count += file.record_count;
    if (options_.check_duplicates) paths_.Add(entry.file.file_path, file.manifest, file.ordinal);
    return Ok();
  }));
  partitions_.Merge(std::move(own), std::move(files));
  return Ok();
}

Status Observer::Run(const iceberg::Snapshot& snapshot) {
  FIRN_ASSIGN(std::vector<iceberg::ManifestFile> lines, ReadManifests(io_, snapshot, metadata_));
  for (iceberg::ManifestFile& line : lines) facts_.manifests.push_back({std::move(line), 0});
  const std::vector<std::size_t> data = LiveManifests(ManifestContent::kData);
  const std::vector<std::size_t> deletes = LiveManifests(ManifestContent::kDeletes);
  progress_.manifests_total = static_cast<std::int64_t>(data.size() + deletes.size());
  FIRN_TRY(ReadDeletes(deletes));
  FIRN_TRY(ReadEach(data, [&](std::size_t i) { return ReadDataManifest(data[i]); }));
  partitions_.Finish(facts_);
  facts_.manifest_entries_read = progress_.entries_read;
  return options_.check_duplicates ? paths_.Check(io_, metadata_, facts_) : Ok();
}

std::vector<SnapshotFacts> SnapshotsOf(const TableMetadata& metadata) {
  std::map<SnapshotId, std::vector<std::string>> refs;
  for (const iceberg::SnapshotRef& ref : metadata.refs()) refs[ref.snapshot_id].push_back(ref.name);
  std::vector<const iceberg::Snapshot*> ordered;
  for (const iceberg::Snapshot& snapshot : metadata.snapshots()) ordered.push_back(&snapshot);
  std::ranges::stable_sort(ordered, [](const iceberg::Snapshot* a, const iceberg::Snapshot* b) {
    return std::pair(a->sequence_number, a->timestamp) < std::pair(b->sequence_number, b->timestamp);
  });
  std::vector<SnapshotFacts> snapshots;
  for (const iceberg::Snapshot* snapshot : ordered) {
    snapshots.push_back({snapshot->id, snapshot->timestamp, snapshot->operation(), std::move(refs[snapshot->id])});
  }
  return snapshots;
}

}  // namespace

Result<Facts> Observe(const ports::LoadedTable& table, ports::FileIO& io, const ObserveOptions& options,
                      TimestampMs now) {
  const TableMetadata& metadata = *table.metadata;
  Facts facts;
  facts.table = table.id.name.empty() ? metadata.location() : ports::ToString(table.id);
  facts.table_uuid = metadata.table_uuid();
  facts.location = metadata.location();
  facts.ref = options.ref;
  facts.format_version = metadata.format_version();
  facts.observed_at = now;
  facts.partitioning = PartitioningOf(metadata);
  facts.snapshots = SnapshotsOf(metadata);
  const iceberg::Snapshot* snapshot = metadata.RefSnapshot(options.ref);
  if (snapshot == nullptr) {
    if (options.ref != "main") {
      return MissingRef(metadata, options.ref).In(facts.table);
    }
    return facts;
  }
  if (options.snapshot_id) snapshot = metadata.FindSnapshot(*options.snapshot_id);
  if (snapshot == nullptr) {
    return Error{Code::kNotFound, fmt::format("{}: there is no snapshot {}", facts.table, options.snapshot_id->value)};
  }
  facts.snapshot_id = snapshot->id;
  facts.sequence_number = snapshot->sequence_number;
  FIRN_TRY(Observer(metadata, io, options, facts).Run(*snapshot).In(facts.table));
  return facts;
}

}  // namespace firn::observe
