// SPDX-License-Identifier: Apache-2.0
//
// Carries the live entries of manifests into new ones, and records those that a commit removes.
//
// In: manifests, and which of their entries are removed. Out: new manifests: the removed entries as DELETED by the
//   new snapshot, all other live ones as EXISTING with the numbers that they had. Entries that were DELETED by older
//   snapshots are dropped.
// Guarantees: snapshot ids, sequence numbers and first row ids are explicit and unchanged; small manifests of one
//   spec become one of up to the target size, in order. DELETED entries go to manifests of their own: readers skip
//   these by their counts, and the next writer drops them without reading.
// Cost: O(entries); memory of one entry and an open file per spec.
// Errors: those of reading and writing.
// Threads: one owner.
// Source: Iceberg table spec, "Manifest Entry Fields", "Sequence Number Inheritance".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "act/metadata_files.h"
#include "act/snapshot_summary.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::act {

/// The path that Java's summary counts changed partitions by.
std::string ChangedPartition(const iceberg::TableMetadata& metadata, const iceberg::DataFile& file);
/// `commit.manifest.target-size-bytes`, 8 MiB by default.
Result<std::int64_t> ManifestTargetSize(const iceberg::TableMetadata& metadata);

class ManifestCarrier {
 public:
  /// `files` and `metadata` outlive the carrier.
  ManifestCarrier(MetadataFiles& files, const iceberg::TableMetadata& metadata, SnapshotId snapshot_id,
                  std::int64_t target_size_bytes)
      : files_(files), metadata_(metadata), snapshot_id_(snapshot_id), target_size_bytes_(target_size_bytes) {}

  using IsRemoved = std::function<Result<bool>(const iceberg::ManifestEntry&)>;
  /// Asks `is_removed` for every live entry.
  Status Carry(const iceberg::ManifestFile& manifest, const IsRemoved& is_removed);
  /// Lines of the new manifests; those with live entries first.
  Result<std::vector<iceberg::ManifestFile>> Finish();
  /// Removed files and replaced manifests.
  const SnapshotCounts& counts() const { return counts_; }

 private:
  enum class Kind : std::uint8_t { kLive, kRemoved };
  using Key = std::pair<iceberg::ManifestContent, SpecId>;
  RollingManifestWriter& WriterOf(Kind kind, const iceberg::ManifestFile& manifest);

  MetadataFiles& files_;
  const iceberg::TableMetadata& metadata_;
  SnapshotId snapshot_id_;
  std::int64_t target_size_bytes_;
  std::map<std::pair<Kind, Key>, RollingManifestWriter> writers_;
  SnapshotCounts counts_;
};

}  // namespace firn::act
