// SPDX-License-Identifier: Apache-2.0
//
// Finds out by which columns sorting would let readers leave out more files, from the bounds in manifests.
//
// In: facts, metadata, storage, the size of sorted files. Out: a line a column, those that pay first.
// Guarantees: looks at primitive columns outside of lists and maps, the first kSortColumnsMax of the schema that have
//   bounds; at whole partitions taken by chance until kSortFilesMax files. Truncated bounds are wider than the values,
//   which makes the present look worse, never better. A bound that does not fit its column counts as missing.
// Cost: one read of the manifests that hold the files; about 150 bytes a file and column.
// Errors: those of reading manifests.
// Threads: starts `threads` - 1 threads and joins them.
// Source: Iceberg table spec, "Manifests" (bounds), "Sorting".
#pragma once

#include <vector>

#include "base/random.h"
#include "decide/column_overlap.h"
#include "iceberg/metadata.h"
#include "observe/facts.h"
#include "ports/file_io.h"

namespace firn::service {

inline constexpr std::size_t kSortColumnsMax = 32;
inline constexpr std::int64_t kSortFilesMax = 20'000;

Result<std::vector<decide::SortCandidate>> FindSortCandidates(const observe::Facts& facts,
                                                              const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                                              std::int64_t target_size_bytes, Random random,
                                                              int threads);

}  // namespace firn::service
