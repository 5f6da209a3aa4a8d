// SPDX-License-Identifier: Apache-2.0
//
// Reads what happened to a branch since a snapshot that was seen before, from the new manifests alone.
//
// In: a loaded table, its files, the snapshot seen before. Out: a change for each snapshot after it, oldest first.
// Guarantees: entries ADDED and DELETED by a snapshot, from manifests that the snapshot added, and no others. For each
//   snapshot whose manifest list has counts: live files before + added - removed = live files after, for data and for
//   deletes; where that does not hold the set is not complete. A set is complete, or it has no changes and a reason:
//   history expired, rolled back or replaced; another table under the name; a manifest that is missing or broken; more
//   changes than the options allow.
// Cost: the manifest lists of the new snapshots and of the one before, and the manifests that they added. Memory: 24
//   bytes a changed file, one row a partition and snapshot.
// Threads: any, with different arguments.
// Errors: kNotFound (no such branch); kUnavailable, kUnsupported and whatever else says nothing about the table, with
//   the location: ask again later.
// Source: Iceberg table spec, "Manifest Lists", "Manifest Entry Fields", "Snapshots".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "observe/change.h"
#include "ports/catalog.h"
#include "ports/file_io.h"

namespace firn::observe {

struct ChangesOptions {
  std::string ref = "main";
  /// Absent: the table was empty.
  std::optional<SnapshotId> since{};
  /// The last snapshot, an ancestor of the branch's; absent: the branch's own.
  std::optional<SnapshotId> until{};
  /// Of the table that was seen before; empty: not checked.
  std::string table_uuid{};
  std::int64_t snapshots_max = 1000;
  std::int64_t entries_max = 1'000'000;  // read, of any status
};

Result<ChangeSet> ReadChanges(const ports::LoadedTable& table, ports::FileIO& io, const ChangesOptions& options);

}  // namespace firn::observe
