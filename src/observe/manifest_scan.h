// SPDX-License-Identifier: Apache-2.0
//
// The manifests of a snapshot, and the entries of one of them.
//
// In: storage and metadata. Out: lines of the manifest list; entries one by one.
// Guarantees: snapshots of v1 tables that name their manifests inline give lines with unknown counts.
// Cost: one read of the list, or of the first bytes of every inline manifest.
// Threads: any, with different arguments.
// Errors: those of FileIO and the readers.
// Source: Iceberg table spec, "Snapshots" (`manifests`), "Manifest Lists" (null counts of v1 are unknown).
#pragma once

#include <functional>
#include <vector>

#include "iceberg/manifest_reader.h"
#include "ports/file_io.h"

namespace firn::observe {

Result<std::vector<iceberg::ManifestFile>> ReadManifests(ports::FileIO& io, const iceberg::Snapshot& snapshot,
                                                         const iceberg::TableMetadata& metadata);

/// Gives the entries in order to `visit(entry, ordinal)` until it returns false.
Status ForEachEntry(ports::FileIO& io, const iceberg::ManifestFile& manifest, const iceberg::TableMetadata& metadata,
                    iceberg::Wanted wanted,
                    const std::function<Result<bool>(iceberg::ManifestEntry&, std::int64_t)>& visit);

/// ForEachIndex over manifests, as many at a time as the largest of them allows.
Status ForEachManifest(std::size_t count, int threads,
                       const std::function<const iceberg::ManifestFile&(std::size_t)>& manifest,
                       const std::function<Status(std::size_t)>& run);

/// "location: entry 7: text"
Error BadEntry(const iceberg::ManifestFile& manifest, std::int64_t ordinal, std::string_view text);

}  // namespace firn::observe
