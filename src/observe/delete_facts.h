// SPDX-License-Identifier: Apache-2.0
//
// What is there: the live delete files of a branch, and the live data files that they apply to.
//
// Guarantees: plain; data files that no delete applies to are only counted. Memory: the delete entries, and about 150
//   bytes and a path a data file.
// Threads: immutable after observe/.
// Source: Iceberg table spec, "Scan Planning".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "iceberg/delete_index.h"
#include "iceberg/manifest.h"

namespace firn::observe {

struct DeletePartition {
  SpecId spec_id{0};
  iceberg::PartitionTuple tuple;
  std::string text;  // for people; "" if unpartitioned
};

/// A live data file that some delete applies to.
struct DeleteTarget {
  std::string path;
  std::uint32_t partition = 0;  // index into DeleteFacts::partitions
  std::uint32_t manifest = 0;   // index into DeleteFacts::manifests
  std::int64_t record_count = 0, size_bytes = 0;
  SequenceNumber sequence_number{0}, file_sequence_number{0};
  iceberg::FileFormat format = iceberg::FileFormat::kParquet;
  bool is_encrypted = false;
  iceberg::DeleteIndex::Kinds kinds;
  /// A delete names it but does not fit it, or the table names it twice: what its rows are is not certain.
  bool is_doubtful = false;
};

struct DeleteFacts {
  std::string table;  // "db.t" or a location
  std::string table_uuid;
  std::string ref = "main";
  std::int32_t format_version = 2;
  std::optional<SnapshotId> snapshot_id;  // absent: empty table
  SequenceNumber sequence_number{0};
  std::vector<std::string> manifests;  // of the snapshot, data and deletes, by location
  std::vector<DeletePartition> partitions;
  std::vector<DeleteTarget> targets;  // by partition, then path
  iceberg::DeleteIndex deletes;       // all live ones
  std::vector<bool> is_global;        // one an entry of `deletes`: it is an equality delete of all partitions
  std::vector<bool> is_needed;        // one an entry of `deletes`: it applies to some live data file, or names one
  std::int64_t data_files = 0;        // live ones
};

/// The target as deletes are looked up and read for it.
inline iceberg::DataFile DataFileOf(const DeleteFacts& facts, const DeleteTarget& target) {
  const DeletePartition& partition = facts.partitions[target.partition];
  iceberg::DataFile file;
  file.file_path = target.path;
  file.format = target.format;
  file.spec_id = partition.spec_id;
  file.partition = partition.tuple;
  file.record_count = target.record_count;
  file.file_size_bytes = target.size_bytes;
  if (target.is_encrypted) file.key_metadata = Bytes();
  return file;
}

}  // namespace firn::observe
