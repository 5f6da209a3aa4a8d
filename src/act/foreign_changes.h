// SPDX-License-Identifier: Apache-2.0
//
// Looks now and then what others commit while a rewrite runs, so that work that cannot be committed ends early.
//
// In: a branch, the plan's snapshot. Out: for a planned data file, why its replacement would be refused.
// Guarantees: only a reason to stop; whoever commits checks everything again. Found are files that others removed,
//   position deletes and vectors that cannot be read and so not be translated, a table or history that is another. An
//   error while looking is no reason.
// Cost: per look one load; per new snapshot its manifest list, new delete manifests and new data manifests with removed
//   entries. Memory of the paths that others removed.
// Threads: any; one looks at a time and the others do not wait for it.
// Errors: none. Source: docs/decisions/0003.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "act/commit.h"
#include "act/delete_window.h"
#include "act/live_deletes.h"

namespace firn::act {

class ForeignChanges {
 public:
  /// `environment` outlives the object. `format_version`, `plan`: of the plan.
  ForeignChanges(CommitEnvironment& environment, CommitTarget target, std::int32_t format_version, SnapshotId plan,
                 std::int64_t interval_ms);
  ForeignChanges(const ForeignChanges&) = delete;
  ForeignChanges& operator=(const ForeignChanges&) = delete;

  /// If the last look is `interval_ms` ago. Returns how many looks have found something new.
  std::uint64_t LookIfDue();
  /// Of a live file of the plan.
  std::optional<Error> Why(const iceberg::ManifestEntry& entry);

 private:
  Status Look();
  Status NoteRemoved(const iceberg::TableMetadata& metadata);

  CommitEnvironment& env_;
  const CommitTarget target_;
  const std::int32_t format_version_;
  const SnapshotId plan_;
  const std::int64_t interval_ns_;
  std::mutex mutex_;  // of everything below
  std::int64_t looked_ns_;
  std::atomic<std::uint64_t> found_ = 0;
  std::optional<SnapshotId> head_;
  std::optional<Error> ended_;  // concerns every file
  DeleteManifests manifests_;
  std::optional<DeleteWindow> window_;
  std::unordered_set<std::string> read_;                     // manifests with removed entries
  std::unordered_map<std::string, SequenceNumber> removed_;  // data files, by path
};

}  // namespace firn::act
