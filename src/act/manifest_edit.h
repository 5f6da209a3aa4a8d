// SPDX-License-Identifier: Apache-2.0
//
// The parts of a new snapshot that all changes of files have in common.
//
// In: the base of an attempt, entries to add, the manifests that were replaced. Out: lines of the new manifest list.
// Guarantees: added entries have no file sequence number, and a data sequence number only where one is given; manifests
//   of the base that were not replaced stay as they are, those without live files are dropped.
// Cost: O(added entries + manifests).
// Errors: those of reading and writing; kConflict.
// Threads: pure.
// Source: Iceberg table spec, "Manifests", "Manifest Lists", "Sequence Number Inheritance".
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "act/change.h"

namespace firn::act {

/// kConflict unless the plan's snapshot is an ancestor of the base's head, in a table of the same format version.
Status CheckPlanHolds(const CommitBase& base, SnapshotId plan_snapshot_id, std::int32_t format_version);

struct AddedEntry {
  const iceberg::DataFile* file = nullptr;
  std::optional<SequenceNumber> data_sequence_number;  // absent: that of the commit
};

/// New manifests of one content, one spec each, of about the table's target size; `counts` is added to.
Result<std::vector<iceberg::ManifestFile>> WriteAddedEntries(const CommitBase& base, MetadataFiles& files,
                                                             iceberg::ManifestContent content,
                                                             std::span<const AddedEntry> entries,
                                                             SnapshotCounts& counts);

/// Appends to `snapshot` what is left of the base's list.
Status KeepManifests(const CommitBase& base, ports::FileIO& io, const std::vector<iceberg::ManifestFile>& head,
                     const std::unordered_set<std::string_view>& replaced, NewSnapshot& snapshot);

}  // namespace firn::act
