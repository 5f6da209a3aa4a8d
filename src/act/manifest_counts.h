// SPDX-License-Identifier: Apache-2.0
//
// Counts the entries of manifests whose line in the list does not say how many there are.
//
// In: a line of a v1 manifest list. Out: the same line with counts, as a v2 list must have them.
// Guarantees: lines that are complete are not touched and nothing is read for them.
// Errors: those of reading.
// Threads: any, with different lines.
// Source: Iceberg table spec, "Manifest Lists" (null counts of v1 are unknown).
#pragma once

#include "iceberg/manifest.h"
#include "iceberg/metadata.h"
#include "ports/file_io.h"

namespace firn::act {

Status CompleteCounts(ports::FileIO& io, const iceberg::TableMetadata& metadata, iceberg::ManifestFile& line);

}  // namespace firn::act
