// SPDX-License-Identifier: Apache-2.0
//
// Reads the full entries of files that were chosen from Facts.
//
// In: facts, indexes of files in them. Out: entries with paths, metrics and inherited numbers, in the order asked.
// Guarantees: only the manifests concerned are read, each once and no further than its last chosen entry; an entry that
//   does not match its facts is an error.
// Cost: the manifests' bytes; memory is that of the entries that are returned, or of one entry a thread.
// Threads: any, with different arguments; ForEachFile starts `threads` - 1 threads and joins them.
// Errors: kInvalidArgument for an index out of range; kCorrupt when a manifest has changed; those of reading.
// Source: Iceberg table spec, "Sequence Number Inheritance", "First Row ID Inheritance".
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "iceberg/manifest_reader.h"
#include "observe/facts.h"
#include "ports/file_io.h"

namespace firn::observe {

/// Gives the entries one by one, in the order of manifests, with their place among `indexes`; an error of `visit` ends
/// it. With several threads each reads manifests of its own, in any order, and calls `visit` itself.
using EntryVisitor = std::function<Status(std::size_t place, const iceberg::ManifestEntry& entry)>;
Status ForEachFile(const Facts& facts, std::span<const std::uint32_t> indexes, ports::FileIO& io,
                   const iceberg::TableMetadata& metadata, iceberg::Wanted wanted, const EntryVisitor& visit,
                   int threads = 1);

struct EntryPlace {
  std::uint32_t manifest = 0;  // index into Facts::manifests
  std::uint32_t ordinal = 0;
};
/// The same for entries of any kind, by their place.
Result<std::vector<iceberg::ManifestEntry>> ReadEntries(const Facts& facts, std::span<const EntryPlace> places,
                                                        ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                                        iceberg::Wanted wanted);

}  // namespace firn::observe
