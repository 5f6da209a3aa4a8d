// SPDX-License-Identifier: Apache-2.0
//
// How a table's owner wants Parquet files to be written.
//
// In: table properties, effort. Out: options for splice.
// Guarantees: the defaults are those of Iceberg: zstd, row groups of 128 MiB, pages of 1 MiB, dictionaries of 2 MiB;
//   but pages have as many rows as fit, unless a limit is set. Columns are those of the current schema.
//   With the effort "fast" and no codec in the properties, the codec of the inputs stays.
// Errors: kInvalidArgument for values that are no numbers or out of range; kUnsupported for codecs that cannot
//   be written.
// Threads: pure.
// Source: Iceberg documentation, "Write properties" (write.parquet.*).
#pragma once

#include <string>
#include <vector>

#include "iceberg/metadata.h"
#include "splice/splice.h"

namespace firn::act {

Result<splice::Options> SpliceOptionsOf(const iceberg::TableMetadata& metadata, const std::string& effort);

/// A sentence for each property that asks for what is not done.
std::vector<std::string> UnusedSettings(const iceberg::TableMetadata& metadata);

}  // namespace firn::act
