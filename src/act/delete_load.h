// SPDX-License-Identifier: Apache-2.0
//
// Which rows of data files are deleted, by deletes of all kinds.
//
// In: live data files, each with all the delete entries that apply to it (DeleteIndex::Find). Out: deleted positions.
// Guarantees: a vector stands for all position deletes of its file; every other delete is applied, or the data file has
// an
//   error: there is no result without all deletes. Positions behind the last row are left out, so that the cardinality
//   is the number of rows that go.
// Cost: see equality_match.h; position delete files of several data files are read once as long as the cache holds
//   them. The result takes at most two bytes a deleted row. Give as many data files of a partition to one call as
//   possible.
// Errors: kCorrupt (two vectors for one file, broken files), kUnsupported, kLimit, kCancelled; with the file.
// Threads: starts context.threads - 1 threads and joins them; the cache may be shared by calls.
// Source: Iceberg table spec, "Scan Planning", "Row-level Deletes".
#pragma once

#include <span>
#include <vector>

#include "act/delete_load_cache.h"
#include "act/delete_load_context.h"
#include "act/equality_match.h"
#include "format/roaring/position_set.h"

namespace firn::act {

struct DataFileDeletes {
  DataFileRef data;
  std::vector<const iceberg::DeleteEntry*> deletes;  // all that apply
};

struct DeletedRows {
  roaring::PositionSet positions;
  std::int64_t by_equality = 0;  // rows that only equality deletes delete

  /// Once, after all others.
  void AddByEquality(const roaring::PositionSet& matched) {
    const std::int64_t before = positions.cardinality();
    positions.Union(matched);
    by_equality = positions.cardinality() - before;
  }
};

/// The entries that DeleteIndex::Find gives for a data file.
DataFileDeletes DeletesOf(const iceberg::DeleteIndex& index, const DataFileRef& data);

/// One result a data file, in their order. An error that is about single files is that of the data files concerned; any
/// other ends the work.
Result<std::vector<Result<DeletedRows>>> LoadEachDeletedRows(const DeleteLoadContext& context, DeleteCache& cache,
                                                             std::span<const DataFileDeletes> files,
                                                             EqualityStatistics* statistics = nullptr);

/// The same, or the first error of a data file.
Result<std::vector<DeletedRows>> LoadDeletedRows(const DeleteLoadContext& context, DeleteCache& cache,
                                                 std::span<const DataFileDeletes> files,
                                                 EqualityStatistics* statistics = nullptr);

}  // namespace firn::act
