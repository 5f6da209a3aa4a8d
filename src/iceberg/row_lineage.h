// SPDX-License-Identifier: Apache-2.0
//
// The two row lineage columns that data files of v3 tables may store, and where a rewrite takes their values from.
//
// In: a table schema; the columns of a file as ResolveColumns gave them; the file's first row id and data sequence
//   number, inheritance applied. Out: a schema with both columns; lineage sources for splice.
// Guarantees: a row keeps the values that readers see: the stored one, else first row id + position and the file's data
//   sequence number. Rows of a file without a first row id have none, whatever the file stores: readers see null.
// Cost: O(columns). Threads: pure.
// Errors: kCorrupt if the schema has fields with the reserved ids, or row ids would overflow; kUnsupported if the file
//   stores a lineage column as something else than a long.
// Source: Iceberg table spec, "Row Lineage", "Reserved Field IDs".
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "format/parquet/metadata.h"
#include "iceberg/manifest.h"
#include "iceberg/types.h"
#include "splice/splice.h"

namespace firn::iceberg {

/// `schema` with both columns at its end, as the Java library writes them into files.
Result<Schema> WithRowLineage(const Schema& schema);

/// Changes the sources of the lineage columns of `output`; nothing if it has none.
Status SetLineageSources(const std::vector<parquet::SchemaElement>& output, const parquet::FileMetaData& input,
                         const DataFile& file, SequenceNumber data_sequence_number,
                         std::vector<splice::ColumnSource>& columns);

}  // namespace firn::iceberg
