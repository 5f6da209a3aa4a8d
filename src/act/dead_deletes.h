// SPDX-License-Identifier: Apache-2.0
//
// Which delete files nothing needs any more once a commit has replaced data files.
//
// In: delete files that may be dead, the data manifests of the base, the files that the commit removes and adds.
// Out: for each delete file, whether it is dead.
// Guarantees: a delete is dead only if it applies to no data file that survives the commit and, if it is an equality
//   delete, to none that the commit adds: both are looked at, files that others added meanwhile with old sequence
//   numbers included. Position deletes cannot name files that did not exist when they were written. Any doubt keeps
//   the delete.
// Cost: one pass over the planning columns of the data manifests of the specs concerned; a manifest is read once for
//   all attempts with the same question. Nothing if there are no candidates.
// Errors: those of reading.
// Threads: one owner.
// Source: Iceberg table spec, "Scan Planning", "Delete Formats".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "iceberg/delete_index.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "ports/file_io.h"

namespace firn::act {

/// What a commit does to data files.
struct DataEdit {
  std::function<bool(const iceberg::DataFile& file, SequenceNumber sequence_number)> is_removed;
  std::vector<iceberg::DeleteEntry> added;  // data files and their data sequence numbers
  std::size_t version = 0;                  // differs if the files do
};

class DeadDeletes {
 public:
  /// One answer a candidate.
  Result<std::vector<bool>> Find(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                 const std::vector<iceberg::ManifestFile>& head_manifests,
                                 const std::vector<iceberg::DeleteEntry>& candidates, const DataEdit& edit);

 private:
  using Indexes = std::vector<std::uint32_t>;
  struct Question {
    std::vector<iceberg::FileIdentity> candidates;
    std::size_t version = 0;
    friend bool operator==(const Question&, const Question&) = default;
  };
  Result<const Indexes*> NeededBy(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                  const iceberg::ManifestFile& manifest, const iceberg::DeleteIndex& index,
                                  const DataEdit& edit);

  Question question_;
  std::unordered_map<std::string, Indexes> needed_;  // by manifest: candidates that its surviving files need
};

}  // namespace firn::act
