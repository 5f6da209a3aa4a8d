// SPDX-License-Identifier: Apache-2.0
//
// Replaces delete files by others that delete the same rows of the same data files; data files stay as they are.
//
// In: facts and plan, the data files whose deletes were read, what was written for them.
// Out: on each base: manifests in which the new delete files are ADDED and those that nothing needs any more DELETED.
// Guarantees: after the commit the visible rows are those of the base. A delete file goes only if every live data file
//   of the base that it applies to was read, or nothing needs it, and its rows name no other live data file. A data
//   file gets one vector, in the place of all that it has; positions that others deleted meanwhile are in it. What does
//   not fit the base any more is left out (conflicts()), and the deletes that it needs stay. Positions that stood for
//   equality deletes are committed as `delete`, everything else as `replace`: writers that planned before must see the
//   former.
// Cost: reads the delete manifests of the base and data manifests that are newer than the plan, each once; writes the
//   delete manifests concerned on every attempt.
// Errors: kConflict when nothing is left or the plan is not in the branch's history any more.
// Threads: one owner.
// Source: Iceberg table spec, "Scan Planning", "Delete Formats", "Commit Conflict Resolution and Retry"; Java RowDelta,
//   RewriteFiles; docs/decisions/0004.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "act/change.h"
#include "act/delete_strays.h"
#include "act/delete_window.h"
#include "act/live_deletes.h"
#include "act/manifest_edit.h"
#include "act/rebase.h"
#include "decide/delete_rewrite.h"
#include "observe/delete_facts.h"

namespace firn::act {

/// A data file whose planned deletes were all read.
struct ReadTarget {
  std::uint32_t target = 0;              // index into DeleteFacts::targets
  std::optional<std::uint32_t> written;  // index into DeleteRewrite::written; absent: there is nothing to write
};

struct WrittenDeletes {
  iceberg::DataFile file;
  std::optional<SequenceNumber> data_sequence_number;  // absent: that of the commit
  bool replaces_equality = false;                      // it deletes rows that only equality deletes did
  std::vector<std::uint32_t> read;                     // that it is for: indexes into DeleteRewrite::read
};

struct DeleteRewrite {
  const observe::DeleteFacts& facts;
  const decide::DeletePlan& plan;
  std::vector<ReadTarget> read;
  std::vector<WrittenDeletes> written;
  std::vector<std::string> files;   // locations of everything that was written
  std::vector<std::uint32_t> kept;  // planned deletes that have to stay: indexes into the entries of the facts
  /// Keys of paths that no live data file had at the plan, and the planned deletes whose rows name them. Ascending.
  DeleteStrays::Dangling dangling;
  std::vector<std::pair<std::string, std::string>> summary;
};

class DeleteChange final : public Change {
 public:
  /// `rewrite` is kept; what it refers to outlives the change.
  explicit DeleteChange(DeleteRewrite rewrite);
  DeleteChange(const DeleteChange&) = delete;
  DeleteChange& operator=(const DeleteChange&) = delete;

  Result<Proposal> Propose(const CommitBase& base, MetadataFiles& files) override;
  std::string plan_id() const override { return rewrite_.plan.plan_id; }
  std::string fence() const override { return "deletes"; }
  void Committed(std::size_t proposal) override { committed_ = proposal; }
  std::vector<std::string> own_files() const override { return rewrite_.files; }
  std::vector<std::string> unused_files() const override;

  struct Conflict {
    std::uint32_t read = 0;  // index into DeleteRewrite::read
    Error error;
  };
  /// What one proposal did.
  struct Done {
    SnapshotCounts counts;
    std::vector<Conflict> conflicts;
    std::unordered_set<std::string> used;  // locations of own files
    std::int64_t kept = 0;                 // planned deletes that are still needed
  };
  const DeleteRewrite& rewrite() const { return rewrite_; }
  /// False: even on the plan's snapshot there is nothing to write and nothing to remove.
  bool has_work() const;
  /// Of the committed proposal; before that of the last one.
  const Done& done() const;

 private:
  using Manifests = std::vector<iceberg::ManifestFile>;
  struct NewManifest {                  // a data manifest that the plan did not have
    std::vector<std::uint32_t> read;    // indexes of data files that it holds
    std::vector<std::uint32_t> needed;  // planned deletes that its other files need
  };
  struct Remade {  // a vector for which others deleted more rows meanwhile
    std::uint32_t read = 0;
    roaring::PositionSet positions;
  };
  struct Edit {
    std::vector<bool> is_live, is_dropped;  // one a data file that was read
    std::vector<bool> is_needed;            // one a delete of the plan's snapshot
    std::vector<Remade> remade;
    std::vector<iceberg::DataFile> remade_files;
    std::vector<AddedEntry> added;
    std::set<iceberg::FileIdentity> removed;
    std::unordered_set<std::string_view> manifests;  // that hold them
    bool is_row_change = false;
  };

  const observe::DeleteTarget& TargetOf(std::uint32_t read) const;
  iceberg::DataFile FileOf(std::uint32_t read) const { return DataFileOf(rewrite_.facts, TargetOf(read)); }
  void Need(const iceberg::DataFile& file, SequenceNumber sequence_number, std::vector<bool>& is_needed) const;
  void NeedForPath(const std::string& path, std::vector<bool>& is_needed) const;
  Status Survey(const CommitBase& base, ports::FileIO& io, const Manifests& head, Edit& edit);
  Result<const NewManifest*> Look(const CommitBase& base, ports::FileIO& io, const iceberg::ManifestFile& line);
  Status CheckAll(const CommitBase& base, ports::FileIO& io, Edit& edit, Done& done);
  Result<std::optional<roaring::PositionSet>> Rebase(const CommitBase& base, ports::FileIO& io, std::uint32_t read);
  Result<roaring::PositionSet> Applied(const CommitBase& base, ports::FileIO& io, std::uint32_t read) const;
  Status Drop(std::uint32_t read, Error error, Edit& edit, Done& done) const;
  Status Add(const CommitBase& base, MetadataFiles& files, Edit& edit, Done& done) const;
  void Remove(Edit& edit, Done& done) const;
  Result<Proposal> Write(const CommitBase& base, MetadataFiles& files, const Manifests& head, const Edit& edit,
                         Done& done) const;

  DeleteRewrite rewrite_;
  std::unordered_map<std::string_view, std::uint32_t> read_by_path_;
  std::vector<bool> needed_by_unread_;  // planned deletes that data files need which were not read
  std::vector<bool> is_planned_;        // one a delete of the plan's snapshot: it is to go
  DeleteManifests manifests_;
  std::optional<DeleteWindow> window_;
  LiveDeletes live_;
  DeleteRebase rebase_;
  std::unordered_map<std::string, NewManifest> new_manifests_;
  std::vector<Done> done_;  // of each proposal
  std::optional<std::size_t> committed_;
};

}  // namespace firn::act
