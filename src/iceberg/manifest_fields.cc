// SPDX-License-Identifier: Apache-2.0
#include "iceberg/manifest_fields.h"

#include <array>

namespace firn::iceberg {
namespace {

using enum FieldForm;

constexpr std::array kEntryFields{
    WrittenField{0, "status", kInt, true, ""},
    // Always set in v1, which has nothing to inherit from.
    WrittenField{1, "snapshot_id", kLong, true, "", 0, 0, 1, 1},
    WrittenField{1, "snapshot_id", kLong, false, "", 0, 0, 2},
    WrittenField{3, "sequence_number", kLong, false, "", 0, 0, 2},
    WrittenField{4, "file_sequence_number", kLong, false, "", 0, 0, 2},
    WrittenField{2, "data_file", kDataFile, true, ""},
};

constexpr std::array kDataFileFields{
    WrittenField{134, "content", kInt, true, "Contents of the file: 0=data, 1=position deletes, 2=equality deletes", 0,
                 0, 2},
    WrittenField{100, "file_path", kString, true, "Location URI with FS scheme"},
    WrittenField{101, "file_format", kString, true, "File format name: avro, orc, or parquet"},
    WrittenField{102, "partition", kPartition, true, "Partition data tuple, schema based on the partition spec"},
    WrittenField{103, "record_count", kLong, true, "Number of records in the file"},
    WrittenField{104, "file_size_in_bytes", kLong, true, "Total file size in bytes"},
    WrittenField{105, "block_size_in_bytes", kLong, true, "", 0, 0, 1, 1},
    WrittenField{108, "column_sizes", kLongMap, false, "Map of column id to total size on disk", 117, 118},
    WrittenField{109, "value_counts", kLongMap, false, "Map of column id to total count, including null and NaN", 119,
                 120},
    WrittenField{110, "null_value_counts", kLongMap, false, "Map of column id to null value count", 121, 122},
    WrittenField{137, "nan_value_counts", kLongMap, false, "Map of column id to number of NaN values in the column",
                 138, 139},
    WrittenField{125, "lower_bounds", kBytesMap, false, "Map of column id to lower bound", 126, 127},
    WrittenField{128, "upper_bounds", kBytesMap, false, "Map of column id to upper bound", 129, 130},
    WrittenField{131, "key_metadata", kBytes, false, "Encryption key metadata blob"},
    WrittenField{132, "split_offsets", kLongList, false, "Splittable offsets", 133},
    WrittenField{135, "equality_ids", kIntList, false, "Equality comparison field IDs", 136, 0, 2},
    WrittenField{140, "sort_order_id", kInt, false, "Sort order ID"},
    WrittenField{142, "first_row_id", kLong, false, "The first row ID assigned to the first row in the data file", 0, 0,
                 3},
    WrittenField{143, "referenced_data_file", kString, false,
                 "Fully qualified location (URI with FS scheme) of a data file that all deletes reference", 0, 0, 2},
    WrittenField{144, "content_offset", kLong, false, "The offset in the file where the content starts", 0, 0, 3},
    WrittenField{145, "content_size_in_bytes", kLong, false, "The length of referenced content stored in the file", 0,
                 0, 3},
};

constexpr std::array kSummaryFields{
    WrittenField{509, "contains_null", kBoolean, true, "True if any file has a null partition value"},
    WrittenField{518, "contains_nan", kBoolean, false, "True if any file has a nan partition value"},
    WrittenField{510, "lower_bound", kBytes, false, "Partition lower bound for all files"},
    WrittenField{511, "upper_bound", kBytes, false, "Partition upper bound for all files"},
};

constexpr WrittenField kManifestPath{500, "manifest_path", kString, true, "Location URI with FS scheme"};
constexpr WrittenField kManifestLength{501, "manifest_length", kLong, true, "Total file size in bytes"};
constexpr WrittenField kSpecId{502, "partition_spec_id", kInt, true, "Spec ID used to write"};
constexpr WrittenField kAddedSnapshotId{503, "added_snapshot_id", kLong, true, "Snapshot ID that added the manifest"};
constexpr WrittenField kPartitions{507, "partitions", kSummaries, false, "Summary for each partition", 508};
constexpr WrittenField kKeyMetadata{519, "key_metadata", kBytes, false, "Encryption key metadata blob"};

constexpr std::array kManifestFileFieldsV1{
    kManifestPath,
    kManifestLength,
    kSpecId,
    kAddedSnapshotId,
    WrittenField{504, "added_files_count", kInt, false, "Added entry count"},
    WrittenField{505, "existing_files_count", kInt, false, "Existing entry count"},
    WrittenField{506, "deleted_files_count", kInt, false, "Deleted entry count"},
    kPartitions,
    WrittenField{512, "added_rows_count", kLong, false, "Added rows count"},
    WrittenField{513, "existing_rows_count", kLong, false, "Existing rows count"},
    WrittenField{514, "deleted_rows_count", kLong, false, "Deleted rows count"},
    kKeyMetadata,
};

constexpr std::array kManifestFileFieldsV3{
    kManifestPath,
    kManifestLength,
    kSpecId,
    WrittenField{517, "content", kInt, true, "Contents of the manifest: 0=data, 1=deletes"},
    WrittenField{515, "sequence_number", kLong, true, "Sequence number when the manifest was added"},
    WrittenField{516, "min_sequence_number", kLong, true, "Lowest sequence number in the manifest"},
    kAddedSnapshotId,
    WrittenField{504, "added_files_count", kInt, true, "Added entry count"},
    WrittenField{505, "existing_files_count", kInt, true, "Existing entry count"},
    WrittenField{506, "deleted_files_count", kInt, true, "Deleted entry count"},
    WrittenField{512, "added_rows_count", kLong, true, "Added rows count"},
    WrittenField{513, "existing_rows_count", kLong, true, "Existing rows count"},
    WrittenField{514, "deleted_rows_count", kLong, true, "Deleted rows count"},
    kPartitions,
    kKeyMetadata,
    WrittenField{520, "first_row_id", kLong, false, "Starting row ID to assign to new rows in ADDED data files", 0, 0,
                 3},
};

}  // namespace

std::span<const WrittenField> EntryFields() { return kEntryFields; }
std::span<const WrittenField> DataFileFields() { return kDataFileFields; }
std::span<const WrittenField> SummaryFields() { return kSummaryFields; }
std::span<const WrittenField> ManifestFileFields(std::int32_t format_version) {
  if (format_version == 1) return kManifestFileFieldsV1;
  return std::span(kManifestFileFieldsV3).first(kManifestFileFieldsV3.size() - (format_version == 2 ? 1 : 0));
}

}  // namespace firn::iceberg
