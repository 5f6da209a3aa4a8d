// SPDX-License-Identifier: Apache-2.0
//
// What is there: a table's files, deletes, manifests and snapshots, summed per partition.
//
// Guarantees: plain and bounded: one row a live data file (56 bytes), one a partition; no paths. A file is found
//   again by manifest index and ordinal, which never change inside a snapshot.
// Threads: immutable after observe/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "iceberg/manifest.h"

namespace firn::observe {

/// What a file has that plain data files do not: some of it forbids a rewrite. Bits, so that a file can have several.
enum FileFlag : std::uint16_t {
  kHasPositionDeletes = 1 << 0,
  kHasDeletionVector = 1 << 1,
  kHasEqualityDeletes = 1 << 2,
  kNotParquet = 1 << 3,
  kEncrypted = 1 << 4,
  kHasRowLineage = 1 << 5,        // v3: rows have or will get row ids
  kUnknownTransform = 1 << 6,     // its spec cannot be evaluated
  kHasMisplacedDeletes = 1 << 7,  // a delete names it but does not fit it: readers disagree about its rows
  kMayHaveMoreDeletes = 1 << 8,   // more rows than DataFileFacts::deleted_rows may be deleted
};

inline constexpr std::uint16_t kDeleteFlags =
    kHasPositionDeletes | kHasDeletionVector | kHasEqualityDeletes | kMayHaveMoreDeletes;
/// What a rewrite takes care of: deletes are applied, row ids kept.
inline constexpr std::uint16_t kRewritableFlags = kDeleteFlags | kHasRowLineage;

struct DataFileFacts {
  std::uint32_t manifest = 0;   // index into Facts::manifests
  std::uint32_t ordinal = 0;    // entry in the manifest
  std::uint32_t partition = 0;  // index into Facts::partitions
  std::uint16_t flags = 0;
  std::int32_t sort_order_id = 0;
  std::uint32_t delete_files = 0;  // that a reader of the file has to read
  std::int64_t size_bytes = 0;
  std::int64_t record_count = 0;
  std::int64_t data_sequence_number = 0;
  /// By deletion vectors and by position deletes of this file alone; others are not known without reading them.
  std::int64_t deleted_rows = 0;
};

struct PartitionFacts {
  SpecId spec_id{0};
  iceberg::PartitionTuple tuple;
  std::string text;  // "day=2024-01-01", for people; "" if unpartitioned
  std::int64_t file_count = 0, size_bytes = 0, record_count = 0;
  std::int64_t position_delete_files = 0, equality_delete_files = 0, deletion_vectors = 0;
  std::int64_t deleted_rows_max = 0;  // sum of record counts of position deletes and deletion vectors
};

struct ManifestFacts {
  iceberg::ManifestFile file;
  std::int64_t live_files = 0;
};

struct SnapshotFacts {
  SnapshotId id{0};
  TimestampMs timestamp;
  std::string operation;
  std::vector<std::string> refs;
};

struct Facts {
  std::string table;  // "db.t" or a location
  std::string table_uuid;
  std::string location;
  std::string ref = "main";
  std::int32_t format_version = 2;
  std::optional<SnapshotId> snapshot_id;  // absent: empty table
  SequenceNumber sequence_number{0};
  TimestampMs observed_at;
  std::vector<ManifestFacts> manifests;  // data and delete manifests in list order
  std::vector<PartitionFacts> partitions;
  std::vector<DataFileFacts> files;      // grouped by partition, then by manifest and ordinal
  std::vector<SnapshotFacts> snapshots;  // newest last
  std::int64_t position_delete_files = 0, equality_delete_files = 0, deletion_vectors = 0;
  std::int64_t manifest_entries_read = 0;
  std::uint64_t partitioning = 0;  // PartitioningOf the metadata (partitioning.h)
};

}  // namespace firn::observe
