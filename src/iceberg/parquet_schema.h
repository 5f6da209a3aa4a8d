// SPDX-License-Identifier: Apache-2.0
//
// The Parquet schema that a table's data files have, and where its columns are in the files that others wrote.
//
// In: a table schema; footers; a name mapping; a file's partition. Out: schema elements; per output leaf a
// ColumnSource. Guarantees: columns are matched by field id, never by name, except through the table's name mapping for
// files
//   without any ids. Values are taken as they are only where type and nesting mean the same. A column that a file lacks
//   is its identity partition value, its initial default, or null, in this order; a required one without a value is an
//   error. Nothing that a reader of the table would see is dropped silently.
// Cost: O(elements).
// Errors: kUnsupported with column and reason: the file must be left alone. kCorrupt for a broken default.
// Threads: pure.
// Source: Iceberg table spec, Appendix A "Parquet", "Column Projection", "Default values", "Name Mapping".
#pragma once

#include <vector>

#include "base/result.h"
#include "format/parquet/metadata.h"
#include "iceberg/name_mapping.h"
#include "iceberg/partition_spec.h"
#include "iceberg/types.h"
#include "splice/splice.h"

namespace firn::iceberg {

/// Field ids of the row lineage columns that a data file may store.
inline constexpr FieldId kRowIdField = 2147483540, kLastUpdatedSequenceNumberField = 2147483539;

/// Root first, ids on every field, element, key and value, names and annotations as the Java library writes them.
/// Columns of type `unknown` are left out, as they are in files.
Result<std::vector<parquet::SchemaElement>> ToParquetSchema(const Schema& schema);

/// Gives the variant columns of `output` the physical layout (shredding) that they have in the first of `inputs`
/// that has them; files with another layout are refused by ResolveColumns then.
std::vector<parquet::SchemaElement> WithVariantLayouts(std::vector<parquet::SchemaElement> output,
                                                       const std::vector<const parquet::FileMetaData*>& inputs);

/// `output` is a schema made by the two functions above from `table_schema`. `mapping` may be null. `partition` and
/// `spec` are those of the file.
Result<std::vector<splice::ColumnSource>> ResolveColumns(const Schema& table_schema,
                                                         const std::vector<parquet::SchemaElement>& output,
                                                         const parquet::FileMetaData& input, const NameMapping* mapping,
                                                         const PartitionSpec& spec, const PartitionTuple& partition);

/// The key-value metadata that Java puts into a data file's footer: `iceberg.schema`.
std::vector<parquet::KeyValue> FooterMetadata(const Schema& schema);

}  // namespace firn::iceberg
