// SPDX-License-Identifier: Apache-2.0
//
// Tables for the tests of this folder: made at random or from JSON, written and read by Arrow.
//
// In: a seed or text. Out: Parquet files in memory, written by another implementation than the one under test.
// Guarantees: the same seed makes the same table. Arrow's headers stay in the .cc.
// Threads: none.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/random.h"
#include "format/parquet/metadata.h"
#include "splice/splice.h"

namespace arrow {
class DataType;
class Table;
}  // namespace arrow

namespace firn::splice::testing {

using TablePtr = std::shared_ptr<arrow::Table>;

/// How Arrow is to write a file.
struct FileChoice {
  parquet::Codec codec = parquet::Codec::kZstd;
  bool v2 = false;
  bool dictionary = true;
  bool page_index = true;
  bool statistics = true;
  bool crc = false;
  bool int96 = false;                         // for timestamps
  std::optional<double> bloom_fpp;            // Bloom filters of all columns but booleans
  std::optional<parquet::Encoding> encoding;  // instead of PLAIN
  std::int64_t page_rows = 20000;
  std::int64_t page_bytes = 1 << 20;
  std::int64_t dictionary_bytes = 1 << 20;
  std::int64_t row_group_rows = 1 << 20;
  bool store_schema = false;  // Arrow's schema in the key-value metadata
  std::string created_by;     // empty: Arrow's own
};

/// Names of the column types that RandomTable knows.
std::vector<std::string> FlatTypeNames();
std::vector<std::string> NestedTypeNames();

struct TableChoice {
  std::vector<std::string> types;  // a column each, named c0, c1, ...
  std::int64_t rows = 100;
  double null_share = 0.2;       // 0: the columns are required
  std::int64_t distinct = 20;    // different values a column, about; 0: all differ
  std::int64_t first_value = 0;  // where the values begin, so that files can have different ones
};

TablePtr RandomTable(const TableChoice& choice, Random& random);
/// The members of TableChoice, and a seed for this table alone.
TablePtr SeededTable(std::vector<std::string> types, std::int64_t rows, std::int64_t distinct, std::uint64_t seed,
                     double nulls = 0.2, std::int64_t first_value = 0);
/// Columns from JSON: {{"name", "int32", "[1, null]"}, ...}; a '!' behind the type makes the column required.
struct JsonColumn {
  std::string name, type, json;
};
TablePtr JsonTable(const std::vector<JsonColumn>& columns);

Bytes WriteFile(const TablePtr& table, const FileChoice& choice = {});
TablePtr ReadFile(const Bytes& file);
/// The error is Arrow's.
Result<TablePtr> TryReadFile(const Bytes& file);
/// Whether both have the same columns, apart from what may be null.
bool SameTypes(const TablePtr& a, const TablePtr& b);
std::int64_t RowsOf(const TablePtr& table);
/// The rows that stay, as slices.
std::vector<TablePtr> WithoutRows(const TablePtr& table, const DeletedRows& deleted);
TablePtr Joined(const std::vector<TablePtr>& tables);
/// With int64 where it has int32.
TablePtr Widened(const TablePtr& table);
/// A column of integers of 8 bytes.
std::vector<std::optional<std::int64_t>> LongsOf(const TablePtr& table, const std::string& name);
/// `table` with one more such column, optional.
TablePtr WithLongs(const TablePtr& table, const std::string& name,
                   const std::vector<std::optional<std::int64_t>>& values);

Input InputOf(const std::string& name, Bytes file);

/// Splices and verifies; the output's bytes.
struct Spliced {
  Bytes file;
  Report report;
};
Result<Spliced> SpliceFiles(const std::vector<Input>& inputs, const Options& options = {});
/// The same, where a failure is one of the test.
Spliced MustSplice(const std::vector<Input>& inputs, const Options& options = {});
/// Column chunks that took the tier.
inline std::int64_t ChunksOf(const Report& report, Tier tier) {
  return report.tiers[static_cast<std::size_t>(tier)].chunks;
}

/// Empty if `output` holds the rows of `tables` after each other, bit by bit; else what differs.
std::string DifferenceOf(const std::vector<TablePtr>& tables, const Bytes& output);

parquet::FileMetaData FooterOf(const Bytes& file);
/// The index of a column chunk in a file.
std::optional<parquet::ColumnIndex> ColumnIndexOf(const Bytes& file, std::size_t row_group, std::size_t leaf);
std::optional<parquet::OffsetIndex> OffsetIndexOf(const Bytes& file, std::size_t row_group, std::size_t leaf);

}  // namespace firn::splice::testing
