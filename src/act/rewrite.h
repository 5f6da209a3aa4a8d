// SPDX-License-Identifier: Apache-2.0
//
// Replaces data files by others that hold the same rows: the change behind merging and sorting.
//
// In: groups of removed and added files, and the snapshot on which the work was planned.
// Out: on each base: manifests in which the removed files are DELETED, the added ones ADDED, all others as they were.
// Guarantees: a group is committed only if every removed file is still live and unchanged, and no delete that arrived
//   after the plan loses its effect: positions are translated where the group has row maps. Added files keep a data
//   sequence number between that of their newest input and that of the plan, so that later equality deletes still
//   apply. A group that does not fit any more is left out (refusals()), the others go on. Delete files go only with
//   the files that they name, or when they are dead.
// Cost: reads and writes the manifests that hold removed files, once for all attempts as long as they stay in the
//   table; memory per removed file about 200 bytes.
// Errors: kConflict when no group is left or the plan is no longer in the branch's history; kInternal when a group
//   breaks a rule.
// Threads: one owner.
// Source: Iceberg table spec, "Sequence Number Inheritance", "First Row ID Inheritance", "Commit Conflict Resolution
//   and Retry"; docs/decisions/0002 and 0003.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "act/change.h"
#include "act/group_deletes.h"
#include "act/rewrite_group.h"
#include "iceberg/manifest.h"

namespace firn::act {

/// Why a group was left out of the commit.
struct GroupRefusal {
  std::size_t group = 0;  // index into Rewrite::groups
  Error error;
};

class RewriteChange final : public Change {
 public:
  explicit RewriteChange(Rewrite rewrite);
  RewriteChange(const RewriteChange&) = delete;
  RewriteChange& operator=(const RewriteChange&) = delete;

  Result<Proposal> Propose(const CommitBase& base, MetadataFiles& files) override;
  std::string plan_id() const override { return rewrite_.plan_id; }
  std::string fence() const override { return rewrite_.fence; }
  void Committed(std::size_t proposal) override;
  std::vector<std::string> own_files() const override;
  std::vector<std::string> unused_files() const override;

  const Rewrite& rewrite() const { return rewrite_; }
  /// Groups that the committed proposal, before that the last one, left out.
  const std::vector<GroupRefusal>& refusals() const { return refusals_; }

 private:
  struct Place {  // of a removed file
    std::uint32_t group = 0, file = 0;
    bool seen = false;
  };
  struct Written {                            // the manifests of an attempt, for the next one
    std::vector<iceberg::ManifestFile> read;  // lines of the manifests that were rewritten
    std::size_t refusals = 0;                 // how many groups were left out
    std::optional<SchemaId> schema_id;        // absent: nothing was written yet
    DeleteEdits edits;
    std::set<iceberg::FileIdentity> deletes_seen;  // of those that are removed
    std::vector<iceberg::ManifestFile> added, carried;
    std::vector<std::string> delete_files;
    SnapshotCounts counts;
  };
  using Manifests = std::vector<iceberg::ManifestFile>;

  Status CheckGroups() const;
  Status CheckHistory(const CommitBase& base) const;
  Status CheckDeletes(const CommitBase& base, ports::FileIO& io);
  Status Relocate(const CommitBase& base, ports::FileIO& io, const Manifests& head);
  std::vector<bool> TakingPart() const;
  Manifests TouchedManifests(const Manifests& head, const DeleteEdits& edits) const;
  bool CanReuse(const CommitBase& base, const Manifests& touched, const DeleteEdits& edits) const;
  Status WriteManifests(const CommitBase& base, MetadataFiles& files, Manifests touched, DeleteEdits edits);
  Result<bool> IsRemoved(const iceberg::ManifestEntry& entry);
  Status WriteAdded(const CommitBase& base, MetadataFiles& files);
  Result<Proposal> Assemble(const CommitBase& base, ports::FileIO& io, const Manifests& head) const;
  void Refuse(std::size_t group, Error error);
  Error NothingLeft() const;

  Rewrite rewrite_;
  std::unordered_map<std::string_view, Place> places_;  // by path; the text is in rewrite_
  std::vector<bool> refused_;
  std::vector<GroupRefusal> refusals_;       // only grows: a group that did not fit once is never tried again
  std::vector<std::size_t> refusals_after_;  // their number in each proposal
  GroupDeletes deletes_;
  Written written_;
};

}  // namespace firn::act
