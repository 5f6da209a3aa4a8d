// SPDX-License-Identifier: Apache-2.0
//
// Tells in which order of the table's sort key its files stand, from the bounds in manifests.
//
// In: facts, metadata, storage. Out: the look-up that decide/ asks when a sorted table's files may be merged.
// Guarantees: ranges are never narrower than the keys: truncated bounds, nulls and NaN widen them; a file without the
//   counts or bounds that are needed has no range. With more than one sort column, files that share an end of
//   their first column's range overlap, because the other columns decide there.
// Cost: one read of the manifests that hold the files; about 150 bytes a file.
// Errors: those of reading manifests; kCorrupt for bounds that do not fit the column.
// Threads: the look-up starts `threads` - 1 threads and joins them. It refers to its arguments.
// Source: Iceberg table spec, "Sorting", "Manifests" (bounds, null and NaN counts).
#pragma once

#include "decide/decide.h"
#include "iceberg/metadata.h"
#include "observe/facts.h"
#include "ports/file_io.h"

namespace firn::service {

/// Empty for tables without a default sort order, and where its first column's transform does not keep the order.
decide::KeyRangeLookup MakeKeyRangeLookup(const observe::Facts& facts, const iceberg::TableMetadata& metadata,
                                          ports::FileIO& io, int threads);

}  // namespace firn::service
