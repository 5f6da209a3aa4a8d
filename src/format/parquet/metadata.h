// SPDX-License-Identifier: Apache-2.0
//
// The footer of a Parquet file and its page headers as values, with unknown thrift members kept.
//
// Guarantees: what was parsed and is written again without edits has the same meaning, also for members that this
//   program does not know, where a struct has an `unknown`: fields packed as thrift_reader.h says (AppendKept).
// Cost: about 200 bytes a column chunk.
// Threads: values.
// Source: parquet.thrift: FileMetaData, RowGroup, ColumnChunk, ColumnMetaData, PageHeader, ColumnIndex, OffsetIndex.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"

namespace firn::parquet {

enum class PhysicalType : std::int32_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedLenByteArray = 7,
};
enum class Repetition : std::int32_t { kRequired = 0, kOptional = 1, kRepeated = 2 };
enum class Encoding : std::int32_t {
  kPlain = 0,
  kPlainDictionary = 2,
  kRle = 3,
  kBitPacked = 4,
  kDeltaBinaryPacked = 5,
  kDeltaLengthByteArray = 6,
  kDeltaByteArray = 7,
  kRleDictionary = 8,
  kByteStreamSplit = 9,
};
enum class Codec : std::int32_t {
  kUncompressed = 0,
  kSnappy = 1,
  kGzip = 2,
  kLzo = 3,
  kBrotli = 4,
  kLz4 = 5,
  kZstd = 6,
  kLz4Raw = 7,
};
enum class PageType : std::int32_t { kData = 0, kIndex = 1, kDictionary = 2, kDataV2 = 3 };
enum class BoundaryOrder : std::int32_t { kUnordered = 0, kAscending = 1, kDescending = 2 };

/// The LogicalType union, as far as firn compares or writes it.
enum class LogicalKind : std::uint8_t {
  kNone,
  kString,
  kMap,
  kList,
  kEnum,
  kDecimal,
  kDate,
  kTime,
  kTimestamp,
  kInteger,
  kUnknown,
  kJson,
  kBson,
  kUuid,
  kFloat16,
  kVariant,
  kGeometry,
  kGeography,
  kOther,
};
enum class TimeUnit : std::uint8_t { kNone, kMillis, kMicros, kNanos };

struct LogicalType {
  LogicalKind kind = LogicalKind::kNone;
  std::int32_t precision = 0, scale = 0;  // decimal
  TimeUnit unit = TimeUnit::kNone;        // time, timestamp
  bool adjusted_to_utc = false;           // time, timestamp
  std::int8_t bit_width = 0;              // integer
  bool is_signed = true;                  // integer
  Bytes raw;                              // other members (CRS, algorithm, version, unknown kinds), encoded
  friend bool operator==(const LogicalType&, const LogicalType&) = default;
};

struct SchemaElement {
  std::optional<PhysicalType> type;  // absent for groups
  std::int32_t type_length = 0;
  std::optional<Repetition> repetition;
  std::string name;
  std::int32_t num_children = 0;
  std::optional<std::int32_t> converted_type;
  std::int32_t scale = 0, precision = 0;
  std::optional<std::int32_t> field_id;
  LogicalType logical;
  Bytes unknown;
};

struct Statistics {
  std::optional<Bytes> min, max;  // deprecated, signed comparison
  std::optional<std::int64_t> null_count, distinct_count;
  std::optional<Bytes> max_value, min_value;
  std::optional<bool> is_max_value_exact, is_min_value_exact;
  std::optional<std::int64_t> nan_count;
  Bytes unknown;
};

struct PageEncodingStats {
  PageType page_type = PageType::kData;
  Encoding encoding = Encoding::kPlain;
  std::int32_t count = 0;
};

struct SizeStatistics {
  std::optional<std::int64_t> unencoded_byte_array_data_bytes;
  std::vector<std::int64_t> repetition_level_histogram, definition_level_histogram;
};

struct KeyValue {
  std::string key;
  std::optional<std::string> value;
};

struct ColumnMetaData {
  PhysicalType type = PhysicalType::kInt32;
  std::vector<Encoding> encodings;
  std::vector<std::string> path_in_schema;
  Codec codec = Codec::kUncompressed;
  std::int64_t num_values = 0;
  std::int64_t total_uncompressed_size = 0, total_compressed_size = 0;
  std::vector<KeyValue> key_value_metadata;
  std::int64_t data_page_offset = 0;
  std::optional<std::int64_t> index_page_offset, dictionary_page_offset;
  std::optional<Statistics> statistics;
  std::vector<PageEncodingStats> encoding_stats;
  std::optional<std::int64_t> bloom_filter_offset;
  std::optional<std::int32_t> bloom_filter_length;
  std::optional<SizeStatistics> size_statistics;
  Bytes unknown;  // geospatial statistics among others
};

struct ColumnChunk {
  std::optional<std::string> file_path;
  std::int64_t file_offset = 0;
  std::optional<ColumnMetaData> meta;
  std::optional<std::int64_t> offset_index_offset, column_index_offset;
  std::optional<std::int32_t> offset_index_length, column_index_length;
  bool encrypted = false;  // crypto_metadata or encrypted_column_metadata is present
  Bytes unknown;
};

struct SortingColumn {
  std::int32_t column_index = 0;
  bool descending = false, nulls_first = false;
};

struct RowGroup {
  std::vector<ColumnChunk> columns;
  std::int64_t total_byte_size = 0, num_rows = 0;
  std::vector<SortingColumn> sorting_columns;
  std::optional<std::int64_t> file_offset, total_compressed_size;
  std::optional<std::int16_t> ordinal;
  Bytes unknown;
};

/// ColumnOrder union. Something newer is kOther and written as an order nobody knows: bounds are not to be used.
enum class ColumnOrder : std::uint8_t { kUndefined, kTypeDefined, kIeee754TotalOrder, kInt96Timestamp, kOther };

struct FileMetaData {
  std::int32_t version = 1;
  std::vector<SchemaElement> schema;
  std::int64_t num_rows = 0;
  std::vector<RowGroup> row_groups;
  std::vector<KeyValue> key_value_metadata;
  std::string created_by;
  std::vector<ColumnOrder> column_orders;
  bool encrypted = false;  // encryption_algorithm is present
  Bytes unknown;
};

struct PageHeader {
  PageType type = PageType::kData;
  std::int32_t uncompressed_size = 0, compressed_size = 0;
  std::optional<std::int32_t> crc;
  std::int32_t num_values = 0;                                                                      // all page kinds
  Encoding encoding = Encoding::kPlain;                                                             // all page kinds
  Encoding definition_level_encoding = Encoding::kRle, repetition_level_encoding = Encoding::kRle;  // V1
  std::int32_t num_nulls = 0, num_rows = 0;                                                         // V2
  std::int32_t definition_levels_bytes = 0, repetition_levels_bytes = 0;                            // V2
  bool is_compressed = true;                                                                        // V2
  bool is_sorted = false;                                                                           // dictionary
  std::optional<Statistics> statistics;
};

struct PageLocation {
  std::int64_t offset = 0;
  std::int32_t compressed_size = 0;  // header included
  std::int64_t first_row_index = 0;
};

struct OffsetIndex {
  std::vector<PageLocation> pages;
  std::vector<std::int64_t> unencoded_byte_array_data_bytes;
};

struct ColumnIndex {
  std::vector<bool> null_pages;
  std::vector<Bytes> min_values, max_values;
  BoundaryOrder boundary_order = BoundaryOrder::kUnordered;
  std::vector<std::int64_t> null_counts;
  std::vector<std::int64_t> repetition_level_histograms, definition_level_histograms;
  std::vector<std::int64_t> nan_counts;
};

/// A leaf of the schema with what page bodies need to know.
struct Leaf {
  std::int32_t schema_index = 0;  // into FileMetaData::schema
  std::int16_t max_definition_level = 0, max_repetition_level = 0;
  std::vector<std::string> path;
};

/// Leaves in column order. Empty if the tree is broken; FileMetaData from ParseFooter never is.
std::vector<Leaf> LeavesOf(const std::vector<SchemaElement>& schema);

}  // namespace firn::parquet
