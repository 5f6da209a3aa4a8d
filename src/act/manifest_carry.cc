// SPDX-License-Identifier: Apache-2.0
#include "act/manifest_carry.h"

#include "observe/manifest_scan.h"

namespace firn::act {

using iceberg::EntryStatus;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;

std::string ChangedPartition(const iceberg::TableMetadata& metadata, const iceberg::DataFile& file) {
  const iceberg::PartitionSpec* spec = metadata.FindSpec(file.spec_id);
  return spec == nullptr ? "" : iceberg::PartitionPath(*spec, metadata.current_schema(), file.partition);
}

Result<std::int64_t> ManifestTargetSize(const iceberg::TableMetadata& metadata) {
  return metadata.IntProperty("commit.manifest.target-size-bytes", std::int64_t{8} << 20);
}

RollingManifestWriter& ManifestCarrier::WriterOf(Kind kind, const ManifestFile& manifest) {
  const std::pair<Kind, Key> key{kind, {manifest.content, manifest.spec_id}};
  const auto found = writers_.find(key);
  if (found != writers_.end()) return found->second;
  iceberg::ManifestWriterOptions options;
  options.format_version = metadata_.format_version();
  options.spec_id = manifest.spec_id;
  options.content = manifest.content;
  options.snapshot_id = snapshot_id_;
  return writers_.try_emplace(key, files_, metadata_, std::move(options), target_size_bytes_).first->second;
}

Status ManifestCarrier::Carry(const ManifestFile& manifest, const IsRemoved& is_removed) {
  ++counts_.manifests_replaced;
  const auto carry = [&](ManifestEntry& entry, std::int64_t) -> Result<bool> {
    ++counts_.entries_processed;
    if (entry.status == EntryStatus::kDeleted) return true;
    FIRN_ASSIGN(const bool removed, is_removed(entry));
    if (!entry.snapshot_id) entry.snapshot_id = manifest.added_snapshot_id;
    if (!removed) {
      entry.status = EntryStatus::kExisting;
      FIRN_TRY(WriterOf(Kind::kLive, manifest).Add(entry));
      return true;
    }
    entry.status = EntryStatus::kDeleted;
    entry.snapshot_id = snapshot_id_;
    counts_.Removed(entry.file);
    counts_.changed_partitions.insert(ChangedPartition(metadata_, entry.file));
    FIRN_TRY(WriterOf(Kind::kRemoved, manifest).Add(entry));
    return true;
  };
  return observe::ForEachEntry(files_.io(), manifest, metadata_, iceberg::Wanted::everything(), carry);
}

Result<std::vector<ManifestFile>> ManifestCarrier::Finish() {
  std::vector<ManifestFile> lines;
  for (auto& [key, writer] : writers_) {
    FIRN_ASSIGN(std::vector<ManifestFile> written, writer.Finish());
    for (ManifestFile& line : written) lines.push_back(std::move(line));
  }
  counts_.manifests_created += static_cast<std::int64_t>(lines.size());
  return lines;
}

}  // namespace firn::act
