// SPDX-License-Identifier: Apache-2.0
//
// Writes deleted positions of data files as the table's format version wants them.
//
// In: per data file the positions. Out: written files and their manifest entries' content.
// Guarantees: from version 3 on one deletion vector a data file, all of them in one Puffin file; before, a position
//   delete file a data file. Each names its data file, with full bounds, and has its spec and tuple. Nothing is
//   written for empty sets. The files are known to `files`, which whoever commits cleans up.
// Cost: O(positions); memory of one vector.
// Errors: those of FileIO; kUnsupported where new files go is not known; kLimit.
// Threads: one owner.
// Source: Iceberg table spec, "Delete Formats"; Puffin specification, "deletion-vector-v1".
#pragma once

#include <cstdint>
#include <vector>

#include "act/metadata_files.h"
#include "format/roaring/position_set.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::act {

struct NewDeletes {
  const iceberg::DataFile* data = nullptr;
  const roaring::PositionSet* positions = nullptr;
  bool alone = false;  // in a file of its own
};

/// One entry for each that is not empty, in their order.
Result<std::vector<iceberg::DataFile>> WriteDeletes(const iceberg::TableMetadata& metadata, MetadataFiles& files,
                                                    const std::vector<NewDeletes>& deletes);

/// A position delete file for several data files of a partition.
struct SharedDeletes {
  iceberg::DataFile file;
  std::vector<std::size_t> inputs;  // indexes of those that it is for
};

/// For tables without vectors. `deletes` are ordered by partition and path; a file takes about `positions_max`. Files
/// for one data file follow those for several.
Result<std::vector<SharedDeletes>> WriteSharedDeletes(const iceberg::TableMetadata& metadata, MetadataFiles& files,
                                                      const std::vector<NewDeletes>& deletes,
                                                      std::int64_t positions_max);

}  // namespace firn::act
