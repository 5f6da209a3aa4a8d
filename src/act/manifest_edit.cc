// SPDX-License-Identifier: Apache-2.0
#include "act/manifest_edit.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "act/manifest_carry.h"
#include "act/manifest_counts.h"
#include "act/plan_base.h"

namespace firn::act {

using iceberg::ManifestEntry;
using iceberg::ManifestFile;

Status CheckPlanHolds(const CommitBase& base, SnapshotId plan_snapshot_id, std::int32_t format_version) {
  if (base.metadata.format_version() != format_version) {
    return Error{Code::kConflict, fmt::format("the table's format version became {}, planned was {}",
                                              base.metadata.format_version(), format_version)};
  }
  if (!IsInHistory(base.metadata, plan_snapshot_id, base.head)) {
    return Error{Code::kConflict, fmt::format("cannot determine the history: snapshot {} of the plan is no "
                                              "longer an ancestor of branch {}",
                                              plan_snapshot_id.value, base.ref)};
  }
  return Ok();
}

Result<std::vector<ManifestFile>> WriteAddedEntries(const CommitBase& base, MetadataFiles& files,
                                                    iceberg::ManifestContent content,
                                                    std::span<const AddedEntry> entries, SnapshotCounts& counts) {
  FIRN_ASSIGN(const std::int64_t target_size_bytes, ManifestTargetSize(base.metadata));
  std::map<SpecId, RollingManifestWriter> writers;
  for (const AddedEntry& added : entries) {
    iceberg::ManifestWriterOptions options;
    options.format_version = base.metadata.format_version();
    options.spec_id = added.file->spec_id;
    options.content = content;
    options.snapshot_id = base.new_snapshot_id;
    ManifestEntry entry;
    entry.status = iceberg::EntryStatus::kAdded;
    entry.snapshot_id = base.new_snapshot_id;
    if (options.format_version > 1) entry.sequence_number = added.data_sequence_number;
    entry.file = *added.file;
    FIRN_TRY(writers.try_emplace(entry.file.spec_id, files, base.metadata, std::move(options), target_size_bytes)
                 .first->second.Add(entry));
    counts.Added(entry.file);
    counts.changed_partitions.insert(ChangedPartition(base.metadata, entry.file));
  }
  std::vector<ManifestFile> lines;
  for (auto& [spec_id, writer] : writers) {
    FIRN_ASSIGN(std::vector<ManifestFile> written, writer.Finish());
    for (ManifestFile& line : written) lines.push_back(std::move(line));
  }
  counts.manifests_created += static_cast<std::int64_t>(lines.size());
  return lines;
}

Status KeepManifests(const CommitBase& base, ports::FileIO& io, const std::vector<ManifestFile>& head,
                     const std::unordered_set<std::string_view>& replaced, NewSnapshot& snapshot) {
  for (const ManifestFile& line : head) {
    if (replaced.contains(line.manifest_path) || !iceberg::MayHaveLiveFiles(line)) continue;
    snapshot.manifests.push_back(line);
    ++snapshot.counts.manifests_kept;
    if (base.metadata.format_version() > 1) {
      FIRN_TRY(CompleteCounts(io, base.metadata, snapshot.manifests.back()));
    }
  }
  return Ok();
}

}  // namespace firn::act
