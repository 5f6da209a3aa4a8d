// SPDX-License-Identifier: Apache-2.0
//
// Reads the manifests of a snapshot and their entries from storage.
//
// In: FileIO, metadata, a snapshot or a line of its manifest list. Out: lines; entries one by one.
// Guarantees: snapshots of v1 tables that name their manifests inline are read like the others.
// Cost: one request a manifest; memory of one block and one entry.
// Errors: those of FileIO and the readers, with the manifest's location.
// Threads: any, with different arguments.
// Source: Iceberg table spec, "Manifests", "Manifest Lists"; hazard 98.
#pragma once

#include <functional>
#include <vector>

#include "iceberg/manifest.h"
#include "iceberg/manifest_reader.h"
#include "iceberg/metadata.h"
#include "ports/file_io.h"

namespace firn::act {

/// Lines of the snapshot's manifest list, in its order.
Result<std::vector<iceberg::ManifestFile>> ReadManifests(ports::FileIO& io, const iceberg::Snapshot& snapshot,
                                                         const iceberg::TableMetadata& metadata);

/// Gives every entry of a manifest, of all statuses, to `visit`, which may change it.
Status ForEachEntry(ports::FileIO& io, const iceberg::ManifestFile& manifest, const iceberg::TableMetadata& metadata,
                    iceberg::Wanted wanted, const std::function<Status(iceberg::ManifestEntry&)>& visit);

/// Counts entries and rows where the line does not tell them, as a v2 list must.
Status CompleteCounts(ports::FileIO& io, const iceberg::TableMetadata& metadata, iceberg::ManifestFile& line);

}  // namespace firn::act
