// SPDX-License-Identifier: Apache-2.0
//
// Writes position delete files.
//
// In: positions of one or more data files, ordered by path. Out: a Parquet file with the columns file_path and pos.
// Guarantees: sorted by path and position, without repetitions, with the reserved field ids; no row column.
// Cost: O(positions); memory of one row group of a million positions.
// Errors: those of the sink; kInvalidArgument if paths are not ascending; kInternal of the Parquet library.
// Threads: pure.
// Source: Iceberg table spec, "Position Delete Files".
#pragma once

#include <span>
#include <string>

#include "base/byte_io.h"
#include "format/roaring/position_set.h"

namespace firn::act {

struct DeletedPositions {
  const std::string* data_file_path = nullptr;
  const roaring::PositionSet* positions = nullptr;
};

Status WritePositionDeleteFile(ByteSink& sink, std::span<const DeletedPositions> files);

}  // namespace firn::act
