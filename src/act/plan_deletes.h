// SPDX-License-Identifier: Apache-2.0
//
// The deletes of a plan's snapshot, and the rows that they delete of files that are rewritten.
//
// In: the facts that a plan was made from; full entries of data files. Out: per file the deleted rows.
// Guarantees: every delete that applies at the plan is applied to the rows of its own file, whatever the facts flagged;
//   if one cannot be read, or its rows name a live data file that its entry excludes, the file that it applies to gets
//   an error instead of rows. So does a file that a delete names which does not fit it: facts of a part of the table
//   need not know of it.
// Cost: the delete manifests once; memory O(delete files), a cache of positions, and two bytes a deleted row. What was
//   applied is remembered for each file, equality deletes once for all files of a call that have the same ones.
// Errors: those of reading manifests; per file those of delete_load.h.
// Threads: may be shared once it is read.
// Source: Iceberg table spec, "Scan Planning"; docs/decisions/0002.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "act/delete_load.h"
#include "act/named_files.h"
#include "iceberg/delete_index.h"
#include "observe/facts.h"
#include "splice/row_filter.h"

namespace firn::act {

/// What a rewrite has to leave out of a file.
struct FileDeletes {
  std::shared_ptr<const splice::DeletedRows> rows;        // null: none
  std::shared_ptr<const roaring::PositionSet> positions;  // the same; null: none
  std::vector<iceberg::FileIdentity> applied;             // position deletes and vectors that were looked at
  /// Equality deletes that were looked at: files that have the same ones share the list. Null: none.
  std::shared_ptr<const std::vector<iceberg::FileIdentity>> applied_equality;
  std::int64_t deleted = 0;
  bool has_equality = false;  // equality deletes apply, whether they delete rows or not
};

class PlanDeletes {
 public:
  /// Null without delete files. `cache_bytes`: of positions that several files share. `io` and `metadata` outlive it.
  static Result<std::shared_ptr<PlanDeletes>> Read(const observe::Facts& facts, ports::FileIO& io,
                                                   const iceberg::TableMetadata& metadata, std::int64_t cache_bytes);

  /// One result a file, in their order; the outer error ends the work (storage that is down, cancellation).
  Result<std::vector<Result<FileDeletes>>> Load(const DeleteLoadContext& context,
                                                const std::vector<const iceberg::ManifestEntry*>& files);
  /// Of the position delete files that were read.
  const NamedFiles& named_files() const { return named_files_; }

 private:
  Status CheckPlaces(const iceberg::ManifestEntry& file) const;
  PlanDeletes(ports::FileIO& io, const iceberg::TableMetadata& metadata, SnapshotId snapshot, std::int64_t cache_bytes)
      : cache_(cache_bytes), live_(metadata, io, snapshot), named_files_(live_) {}

  iceberg::DeleteIndex index_;
  DeleteCache cache_;
  LivePaths live_;
  NamedFiles named_files_;
};

}  // namespace firn::act
