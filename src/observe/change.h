// SPDX-License-Identifier: Apache-2.0
//
// What commits changed: per snapshot and partition the files that came and went.
//
// Guarantees: plain; one row (24 bytes) a changed data file, one a partition touched; no paths. Made from the manifests
//   that a snapshot added, never from the whole table.
// Threads: values.
// Source: Iceberg table spec, "Manifest Entry Fields".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "iceberg/partition_spec.h"

namespace firn::observe {

struct ChangedFile {
  std::int64_t size_bytes = 0;
  std::int64_t record_count = 0;
  /// FileFlag bits (facts.h) that the entry itself tells: kNotParquet, kEncrypted, kHasRowLineage, kUnknownTransform. A
  /// file has the same ones when it comes and when it goes.
  std::uint16_t flags = 0;
  friend bool operator==(const ChangedFile&, const ChangedFile&) = default;
};

struct ChangedDeletes {
  std::int64_t position_files = 0, equality_files = 0, vectors = 0;
  std::int64_t rows = 0;  // record counts of position delete files and vectors
  std::int64_t files() const { return position_files + equality_files + vectors; }
  friend bool operator==(const ChangedDeletes&, const ChangedDeletes&) = default;
};

struct PartitionDelta {
  SpecId spec_id{0};
  iceberg::PartitionTuple tuple;
  std::string text;               // "day=2024-01-01", for people; "" if unpartitioned
  bool is_unpartitioned = false;  // its spec is: equality deletes of such a spec apply to all partitions
  std::vector<ChangedFile> added, removed;
  ChangedDeletes added_deletes, removed_deletes;
};

/// One snapshot.
struct Change {
  SnapshotId snapshot_id{0};
  std::optional<SnapshotId> parent_id;
  SequenceNumber sequence_number{0};
  TimestampMs timestamp;  // by the writer's clock
  std::string operation;  // "append", ...
  bool is_own = false;    // firn made it: its summary has `firn.plan-id`
  std::string plan_id;
  std::vector<PartitionDelta> partitions;  // by spec, then by first file
};

/// The snapshots between one that was seen before and the head of a branch.
struct ChangeSet {
  std::string table;  // "db.t" or a location
  std::string table_uuid;
  std::string ref = "main";
  std::optional<SnapshotId> since;  // absent: from the empty table on
  std::optional<SnapshotId> head;   // absent: the table is empty
  std::uint64_t partitioning = 0;   // PartitioningOf the metadata (partitioning.h)
  /// False: what happened since then cannot be told from deltas; `changes` is empty, the whole table is to be scanned.
  bool is_complete = true;
  std::string reason;  // why it is not complete, as a sentence
  /// The snapshot that is not readable, or does not fit to the one before; absent: the reason is another.
  std::optional<SnapshotId> broken_at;
  std::vector<Change> changes;  // oldest first
  std::int64_t manifests_read = 0, entries_read = 0;
};

}  // namespace firn::observe
