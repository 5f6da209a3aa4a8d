// SPDX-License-Identifier: Apache-2.0
//
// Manifest lists, manifests and the files that they name, as values.
//
// Guarantees: optional members are absent exactly when the file did not have them; inheritance has been
//   applied only where a function says so.
// Cost: a DataFile with metrics of 16 columns takes about 3 kB; planning uses narrower rows (manifest_reader.h).
// Threads: values.
// Source: Iceberg table spec, "Manifests", "Manifest Lists", "Sequence Number Inheritance",
//   "First Row ID Inheritance".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/ids.h"
#include "iceberg/partition_spec.h"

namespace firn::iceberg {

enum class ManifestContent : std::uint8_t { kData = 0, kDeletes = 1 };
enum class FileContent : std::uint8_t { kData = 0, kPositionDeletes = 1, kEqualityDeletes = 2 };
enum class EntryStatus : std::uint8_t { kExisting = 0, kAdded = 1, kDeleted = 2 };
enum class FileFormat : std::uint8_t { kParquet, kAvro, kOrc, kPuffin, kUnknown };

/// Sorted by field id.
template <class T>
using ByField = std::vector<std::pair<FieldId, T>>;

struct DataFile {
  FileContent content = FileContent::kData;
  std::string file_path;
  FileFormat format = FileFormat::kParquet;
  std::string format_text;  // as written ("PARQUET", "parquet"), kept when carried
  SpecId spec_id{0};        // of the manifest that holds the entry
  PartitionTuple partition;
  std::int64_t record_count = 0;
  std::int64_t file_size_bytes = 0;
  std::optional<std::int64_t> block_size_bytes;  // v1 only
  ByField<std::int64_t> column_sizes;
  ByField<std::int64_t> value_counts;
  ByField<std::int64_t> null_value_counts;
  ByField<std::int64_t> nan_value_counts;
  ByField<std::int64_t> distinct_counts;
  ByField<Bytes> lower_bounds;
  ByField<Bytes> upper_bounds;
  std::optional<Bytes> key_metadata;
  std::vector<std::int64_t> split_offsets;
  std::vector<FieldId> equality_ids;
  std::optional<SortOrderId> sort_order_id;
  std::optional<std::int64_t> first_row_id;
  std::optional<std::string> referenced_data_file;
  std::optional<std::int64_t> content_offset;
  std::optional<std::int64_t> content_size_bytes;
};

struct ManifestEntry {
  EntryStatus status = EntryStatus::kAdded;
  std::optional<SnapshotId> snapshot_id;
  std::optional<SequenceNumber> sequence_number;  // data sequence number
  std::optional<SequenceNumber> file_sequence_number;
  DataFile file;
};

struct FieldSummary {
  bool contains_null = false;
  std::optional<bool> contains_nan;
  std::optional<Bytes> lower_bound;
  std::optional<Bytes> upper_bound;
};

/// An entry of a manifest list. Counts are absent when unknown (v1): treat absent as non-zero.
struct ManifestFile {
  std::string manifest_path;
  std::int64_t manifest_length = 0;
  SpecId spec_id{0};
  ManifestContent content = ManifestContent::kData;
  SequenceNumber sequence_number{0};
  SequenceNumber min_sequence_number{0};
  SnapshotId added_snapshot_id{0};
  std::optional<std::int32_t> added_files_count, existing_files_count, deleted_files_count;
  std::optional<std::int64_t> added_rows_count, existing_rows_count, deleted_rows_count;
  std::optional<std::vector<FieldSummary>> partitions;
  std::optional<Bytes> key_metadata;
  std::optional<std::int64_t> first_row_id;  // v3 data manifests
};

/// Whether the entries may contain live files: unknown counts as yes.
inline bool MayHaveLiveFiles(const ManifestFile& manifest) {
  return !manifest.added_files_count || !manifest.existing_files_count || *manifest.added_files_count > 0 ||
         *manifest.existing_files_count > 0;
}

/// Identity of a live file: deletion vectors share a Puffin path.
struct FileIdentity {
  std::string path;
  std::int64_t content_offset = -1;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

inline FileIdentity IdentityOf(const DataFile& file) { return {file.file_path, file.content_offset.value_or(-1)}; }

std::string_view FormatName(FileFormat format);
FileFormat ParseFileFormat(std::string_view text);

}  // namespace firn::iceberg
