// SPDX-License-Identifier: Apache-2.0
//
// The live delete files of a snapshot, found by the data files that they apply to.
//
// In: the delete manifests of one head after the other. Out: an index, and the manifest that holds each delete.
// Guarantees: every live delete entry of the head is in the index.
// Cost: each manifest is read once, whatever the number of heads; memory of the entries that were read.
// Errors: those of reading.
// Threads: one owner.
// Source: Iceberg table spec, "Scan Planning".
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "iceberg/delete_index.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "ports/file_io.h"

namespace firn::act {

/// Live entries of delete manifests, kept by the manifest's location.
class DeleteManifests {
 public:
  using Entries = std::vector<iceberg::DeleteEntry>;
  Result<const Entries*> Live(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                              const iceberg::ManifestFile& manifest);

 private:
  std::unordered_map<std::string, Entries> read_;
};

class LiveDeletes {
 public:
  /// Takes the place of what was loaded before.
  Status Load(ports::FileIO& io, const iceberg::TableMetadata& metadata,
              const std::vector<iceberg::ManifestFile>& head_manifests, DeleteManifests& manifests);
  const iceberg::DeleteIndex& index() const { return index_; }
  /// Location of the manifest of an entry of index().
  const std::string& ManifestOf(std::uint32_t entry) const { return manifests_[manifest_of_[entry]]; }

 private:
  iceberg::DeleteIndex index_;
  std::vector<std::string> manifests_;
  std::vector<std::uint32_t> manifest_of_;
};

}  // namespace firn::act
