// SPDX-License-Identifier: Apache-2.0
//
// Equality deletes as positions: which rows of which data files they delete.
//
// In: live data files and equality delete files. Out: deleted positions of each data file.
// Guarantees: a delete file applies to data files with a lower data sequence number of the same spec and tuple, or to
//   all if its spec is unpartitioned; each group of delete files with the same ids and scope is matched by itself, so
//   keys of different scopes never meet. Only key columns are read. Any file that cannot be read is an error.
// Cost: every delete file and the key columns of every data file are read once a pass; there are as many passes as
//   the distinct deleted keys need beyond `memory_bytes` (about 40 bytes and the key each). Give as many data files
//   to one call as possible. Row groups whose statistics lie outside of the deleted keys are not read.
// Errors: kUnsupported (column types, formats, files without ids), kCorrupt, kLimit, kCancelled; with the file.
// Threads: starts context.threads - 1 threads for the data files and joins them.
// Source: Iceberg table spec, "Equality Delete Files", "Scan Planning".
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "act/delete_load_context.h"
#include "format/roaring/position_set.h"

namespace firn::act {

struct EqualityStatistics {
  std::int64_t passes = 0;
  std::int64_t delete_rows_read = 0;  // in all passes
  std::int64_t data_rows_read = 0;    // in all passes
  std::int64_t keys = 0;              // distinct ones, of all groups
};

/// One set a data file, in their order. An error that is about single files is that of the data files concerned; any
/// other ends the work. `statistics` may be null; it is added to.
Result<std::vector<Result<roaring::PositionSet>>> MatchEqualityDeletes(
    const DeleteLoadContext& context, std::span<const DataFileRef> files,
    std::span<const iceberg::DeleteEntry* const> deletes, EqualityStatistics* statistics = nullptr);

}  // namespace firn::act
