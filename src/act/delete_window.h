// SPDX-License-Identifier: Apache-2.0
//
// Delete files that came and went between the snapshot of a plan and the head of its branch.
//
// In: the plan's snapshot, on each attempt the newest head. Out: for a set of replaced files, why they must not be
//   replaced, or nothing.
// Guarantees: every snapshot of the window is looked at, by the content of its manifests and not by the name of its
//   operation. Found are: position deletes and deletion vectors that apply to a replaced file; equality deletes that
//   apply to a replaced file but not to what replaces it; deletes that applied at the plan and are gone without a
//   successor. For files with a row map only what translation cannot repair.
// Cost: one manifest list a new snapshot, and the delete manifests that are new in the window, each once; memory
//   O(deletes in the window).
// Errors: kConflict when the window cannot be walked; those of reading.
// Threads: one owner.
// Source: Iceberg table spec, "Scan Planning".
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "act/live_deletes.h"
#include "iceberg/delete_index.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "ports/file_io.h"

namespace firn::act {

/// Data files of one spec and tuple, and the files that take their place.
struct Replacement {
  struct File {
    const std::string* path = nullptr;
    SequenceNumber sequence_number{0};
    /// The place of its rows is known: deletes of positions that came or went are for DeleteRebase.
    bool has_row_map = false;
  };
  SpecId spec_id{0};
  const iceberg::PartitionTuple* partition = nullptr;
  std::vector<File> removed;
  std::vector<iceberg::DeleteEntry> added;  // file and data sequence number
};

class DeleteWindow {
 public:
  /// `plan_manifests`: all lines of the plan's snapshot. `manifests` outlives the window.
  DeleteWindow(SnapshotId plan, const std::vector<iceberg::ManifestFile>& plan_manifests, DeleteManifests& manifests);

  /// Walks the snapshots after the last head up to `head`; `head_manifests` are the lines of its list.
  Status Extend(ports::FileIO& io, const iceberg::TableMetadata& metadata, const iceberg::Snapshot& head,
                const std::vector<iceberg::ManifestFile>& head_manifests);
  /// Why `replacement` would lose or gain rows on that head; nothing if it would not.
  std::optional<Error> Check(const iceberg::TableMetadata& metadata, const Replacement& replacement) const;
  /// Deletes of the plan that applied to `file` and that the head does not have.
  std::vector<const iceberg::DeleteEntry*> Lost(const iceberg::DataFile& file, SequenceNumber sequence_number) const;
  /// Position deletes and vectors that apply to `file` and came since the plan, whether they are still there or not.
  std::vector<const iceberg::DeleteEntry*> FreshPositional(const iceberg::DataFile& file,
                                                           SequenceNumber sequence_number) const;
  /// Data manifests that came since the plan and may name removed files, by location.
  const std::map<std::string, iceberg::ManifestFile>& removals() const { return removals_; }
  /// Whether deletes of positions came for `file`, or deletes of any kind that applied to it went.
  bool Affects(const iceberg::DataFile& file, SequenceNumber sequence_number) const;
  /// True if Check cannot find anything: no delete manifest came or went.
  bool unchanged() const { return fresh_.empty() && lost_.empty(); }
  bool InPlan(const std::string& manifest_path) const { return plan_paths_.contains(manifest_path); }

 private:
  Status Walk(ports::FileIO& io, const iceberg::TableMetadata& metadata, const iceberg::Snapshot& head);
  void Note(const std::vector<iceberg::ManifestFile>& manifests);
  Status Compare(ports::FileIO& io, const iceberg::TableMetadata& metadata,
                 const std::vector<iceberg::ManifestFile>& head_manifests);

  SnapshotId plan_;
  DeleteManifests& manifests_;
  std::unordered_set<std::string> plan_paths_;                  // all manifests of the plan
  std::map<std::string, iceberg::ManifestFile> plan_deletes_;   // its delete manifests
  std::map<std::string, iceberg::ManifestFile> new_manifests_;  // delete manifests first seen in the window
  std::map<std::string, iceberg::ManifestFile> removals_;
  std::unordered_set<SnapshotId> walked_;
  std::set<iceberg::FileIdentity> live_;  // deletes in new manifests of the head
  iceberg::DeleteIndex fresh_;            // deletes that were not there at the plan
  iceberg::DeleteIndex lost_;             // deletes of the plan that the head does not have
};

}  // namespace firn::act
