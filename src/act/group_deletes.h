// SPDX-License-Identifier: Apache-2.0
//
// What a rewrite does to delete files: which it refuses to run over, translates, or takes out.
//
// In: the groups of a rewrite, on each attempt the base and the groups that still take part. Out: refusals; delete
//   files to remove; positions to delete in added files, and their files.
// Guarantees: after the commit the visible rows are those of the base. Vectors and position deletes that name a
//   removed file go with it; other deletes that applied to removed files go only if they are dead on this base. None
//   goes whose rows name another live data file, whatever its entry says. If no delete was applied and none came or
//   went since the plan, no delete manifest is read.
// Cost: every delete manifest once for all attempts; see dead_deletes.h, rebase.h and named_files.h. Of position delete
//   files that arrived since the plan the paths are read.
// Errors: of a group: kConflict and whatever made its deletes unreadable. kUnavailable, kCancelled and those of
//   reading manifests concern the attempt.
// Threads: one owner.
// Source: Iceberg table spec, "Scan Planning", "Delete Formats"; docs/decisions/0003.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "act/change.h"
#include "act/dead_deletes.h"
#include "act/delete_window.h"
#include "act/live_deletes.h"
#include "act/rebase.h"
#include "act/rewrite_group.h"

namespace firn::act {

/// What one attempt does to delete files.
struct DeleteEdits {
  struct Rebased {  // of RewriteGroup::added
    std::size_t group = 0, added = 0;
    roaring::PositionSet positions;
    friend bool operator==(const Rebased&, const Rebased&) = default;
  };
  std::set<iceberg::FileIdentity> removed;
  std::set<std::string> manifests;  // that hold them
  std::vector<Rebased> rebased;
  friend bool operator==(const DeleteEdits&, const DeleteEdits&) = default;
};

class GroupDeletes {
 public:
  using Manifests = std::vector<iceberg::ManifestFile>;

  /// `rewrite` outlives this object and keeps its groups.
  explicit GroupDeletes(const Rewrite& rewrite) : rewrite_(rewrite) {}
  GroupDeletes(const GroupDeletes&) = delete;
  GroupDeletes& operator=(const GroupDeletes&) = delete;

  /// Looks at the deletes of the base. Once per attempt, first.
  Status Extend(const CommitBase& base, ports::FileIO& io, const Manifests& head);
  /// Why a group does not fit this base. Keeps what must be translated for it.
  Result<std::optional<Error>> Check(const CommitBase& base, ports::FileIO& io, std::size_t group);
  /// The edits if exactly the groups with `takes_part` are committed.
  Result<DeleteEdits> Edits(const CommitBase& base, ports::FileIO& io, const Manifests& head,
                            const std::vector<bool>& takes_part);
  /// The entries' content for what is translated; the files of an earlier attempt if they are still right.
  Result<std::vector<iceberg::DataFile>> Write(const CommitBase& base, MetadataFiles& files, const DeleteEdits& edits);
  /// True if the plan's list had that manifest. After Extend.
  bool InPlan(const std::string& manifest_path) const { return window_->InPlan(manifest_path); }

 private:
  struct Found {                       // among the deletes of the base
    std::set<std::uint32_t> named;     // they name a removed file
    std::set<std::uint32_t> applying;  // others that applied to one
  };
  bool HasApplied() const;
  std::optional<Error> CheckWindow(const CommitBase& base, const RewriteGroup& group) const;
  Found FindTouched(const std::vector<bool>& takes_part) const;
  Result<NamedFiles::Keys> NamedBy(const CommitBase& base, ports::FileIO& io, const iceberg::DataFile& delete_file);
  Status KeepWanted(const CommitBase& base, ports::FileIO& io, std::vector<std::uint64_t> removed,
                    std::set<std::uint32_t>& gone);

  const Rewrite& rewrite_;
  DeleteManifests manifests_;
  std::optional<DeleteWindow> window_;
  bool is_concerned_ = false;  // by deletes at all, on this base
  LiveDeletes live_;
  DeleteRebase rebase_;
  DeadDeletes dead_;
  std::map<std::size_t, std::vector<roaring::PositionSet>> translated_;  // by group
  std::map<std::string, NamedFiles::Keys> named_;                        // of deletes that the plan did not have
  std::vector<DeleteEdits::Rebased> written_for_;
  std::vector<iceberg::DataFile> written_;
};

}  // namespace firn::act
