// SPDX-License-Identifier: Apache-2.0
//
// What somebody wants to do to a table, asked again for every attempt to commit it.
//
// In: the base of an attempt, freshly loaded. Out: the manifests of a new snapshot, or plain metadata updates.
// Guarantees: a change never relies on an earlier base; it may use manifests again that it wrote for one, if they are
//   still right. Files that it created through MetadataFiles are removed by the committer, not by the change.
// Errors: of Propose: kConflict is final (the change does not fit any more); kUnavailable is tried again.
// Threads: one owner.
// Source: Iceberg table spec, "Commit Conflict Resolution and Retry".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "act/metadata_files.h"
#include "act/snapshot_summary.h"
#include "base/ids.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "iceberg/table_update.h"
#include "ports/catalog.h"

namespace firn::act {

/// Errors that say nothing about files: storage or catalog is down, or the work was stopped.
inline bool IsOfTheAttempt(Code code) { return code == Code::kUnavailable || code == Code::kCancelled; }

/// What one attempt stands on.
struct CommitBase {
  const ports::LoadedTable& table;
  const iceberg::TableMetadata& metadata;
  std::string ref;
  const iceberg::Snapshot* head = nullptr;  // of `ref`; null: the branch has no snapshot yet
  SnapshotId new_snapshot_id{0};            // the same in all attempts of one commit
};

struct NewSnapshot {
  std::string operation;                         // "replace", ...
  std::vector<iceberg::ManifestFile> manifests;  // of the new list, in order
  std::vector<std::string> delete_files;         // named by `manifests` and made through MetadataFiles
  SnapshotCounts counts;
  std::vector<std::pair<std::string, std::string>> summary;  // besides the counted members
};

struct Proposal {
  std::optional<NewSnapshot> snapshot;
  /// Besides the snapshot's own updates and the requirements on uuid and branch that every commit has.
  std::vector<iceberg::TableUpdate> updates;
  std::vector<iceberg::TableRequirement> requirements;
};

class Change {
 public:
  virtual ~Change() = default;
  /// Checks the change against `base` and writes the manifests that it needs.
  virtual Result<Proposal> Propose(const CommitBase& base, MetadataFiles& files) = 0;
  /// Two commits with the same marks are the same work: the second one is refused. Empty: no such check.
  virtual std::string plan_id() const = 0;
  virtual std::string fence() const = 0;
  /// For changes without a snapshot, which cannot be recognised by its id: whether the table shows the change.
  virtual bool IsApplied(const iceberg::TableMetadata& /*metadata*/) const { return false; }
  /// Which proposal, counted from 0 over the calls of Propose that succeeded, became part of the table.
  virtual void Committed(std::size_t proposal) = 0;
  /// Data and delete files made for this change. Nobody needs them if it is refused.
  virtual std::vector<std::string> own_files() const = 0;
  /// Those of own_files() that the committed proposal left out.
  virtual std::vector<std::string> unused_files() const = 0;
};

}  // namespace firn::act
