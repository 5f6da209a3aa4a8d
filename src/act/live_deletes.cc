// SPDX-License-Identifier: Apache-2.0
#include "act/live_deletes.h"

#include <utility>

#include "act/delete_scope.h"
#include "observe/manifest_scan.h"

namespace firn::act {

Result<const DeleteManifests::Entries*> DeleteManifests::Live(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                                              const iceberg::ManifestFile& manifest) {
  const auto found = read_.find(manifest.manifest_path);
  if (found != read_.end()) return &found->second;
  Entries entries;
  const iceberg::Wanted wanted{
      .metrics = false, .file_path = true, .split_offsets = false, .position_path_bounds = true};
  FIRN_TRY(observe::ForEachEntry(io, manifest, metadata, wanted,
                                 [&](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                   if (entry.status == iceberg::EntryStatus::kDeleted) return true;
                                   entries.push_back({entry.file, entry.sequence_number.value_or(SequenceNumber(0))});
                                   return true;
                                 }));
  return &read_.emplace(manifest.manifest_path, std::move(entries)).first->second;
}

Status LiveDeletes::Load(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                         const std::vector<iceberg::ManifestFile>& head_manifests, DeleteManifests& manifests) {
  *this = LiveDeletes();
  for (const iceberg::ManifestFile& line : head_manifests) {
    if (line.content != iceberg::ManifestContent::kDeletes || !iceberg::MayHaveLiveFiles(line)) continue;
    FIRN_ASSIGN(const DeleteManifests::Entries* entries, manifests.Live(io, metadata, line));
    for (const iceberg::DeleteEntry& entry : *entries) {
      index_.Add(entry, IsGlobal(metadata, entry.file.spec_id));
      manifest_of_.push_back(static_cast<std::uint32_t>(manifests_.size()));
    }
    manifests_.push_back(line.manifest_path);
  }
  index_.Build();
  return Ok();
}

}  // namespace firn::act
