// SPDX-License-Identifier: Apache-2.0
//
// New headers for pages whose bodies stay as they are stored.
//
// In: a scanned page, what its column is in the output. Out: its header and the levels to put before its body.
// Guarantees: what readers take from the new header is what they took, rightly, from the old one under its writer's
//   name: the compression flag as the bytes are, no statistics, encodings by their names of today. A page of a required
//   column becomes one of an optional column without nulls.
// Cost: a few bytes a page. Threads: pure. Errors: none.
// Source: parquet.thrift PageHeader; ARROW-17100; PARQUET-251.
#pragma once

#include "format/parquet/metadata.h"
#include "splice/chunk_scan.h"
#include "splice/output_column.h"
#include "splice/raw_buffer.h"
#include "splice/schema_match.h"

namespace firn::splice {

/// Whether all pages of the chunk become pages of the column by levels in front of their bodies: required values in a
/// flat optional column, where levels are not compressed.
bool CanPutLevelsBefore(const OutputColumn& column, const ChunkScan& scan, const LevelMap& map);

/// `levels` gets what has to stand before the body; the header's sizes do not count it.
parquet::PageHeader NewHeaderOf(const PageRecord& page, const OutputColumn& column, const LevelMap& map,
                                RawBuffer& levels);

}  // namespace firn::splice
