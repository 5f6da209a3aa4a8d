// SPDX-License-Identifier: Apache-2.0
//
// Lists what a table is made of: snapshots, refs, manifests, files, partitions, statistics.
//
// In: a loaded table and its files. Out: rows into a listing, in the columns that ColumnsOf names.
// Guarantees: manifests are streamed; a listing of files holds one entry at a time.
// Errors: those of reading; kNotFound for a ref that does not exist.
// Threads: one call a thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/listing.h"
#include "ports/catalog.h"
#include "ports/file_io.h"

namespace firn::cli {

enum class Subject : std::uint8_t { kSnapshots, kRefs, kManifests, kFiles, kPartitions, kStatistics };

std::optional<Subject> ParseSubject(std::string_view text);
std::vector<std::string> ColumnsOf(Subject subject);

Status Inspect(Subject subject, const ports::LoadedTable& table, ports::FileIO& io, const std::string& ref,
               TimestampMs now, Listing& listing);

}  // namespace firn::cli
