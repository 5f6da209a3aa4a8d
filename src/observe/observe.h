// SPDX-License-Identifier: Apache-2.0
//
// Reads what a branch holds: every live file as a few numbers, summed per partition.
//
// In: a loaded table and its files. Out: Facts.
// Guarantees: delete manifests are read first and completely, so a file that carries deletes is flagged; an unreadable
//   manifest is an error, never left out; the result does not depend on the number of threads. Only a v3 table's files
//   have kHasRowLineage, and all of them do: rows without ids get some with the next commit. A manifest that
//   manifest_filter leaves out is not opened; those with deletes of an unpartitioned spec always are, because they
//   reach everywhere. A delete of another partition that names a file (kHasMisplacedDeletes) is only found if its
//   manifest is read: act/plan_deletes.h, which reads all, refuses such files.
// Cost: the manifests that are not left out; 56 bytes a live data file, 16 more with check_duplicates, one row a
//   partition, all delete files; per reader one manifest of at most 16 MiB, and one Avro block. About a second for a
//   million files.
// Threads: starts up to 8 times options.threads, but at most 32, and joins them; none for 1.
// Errors: kNotFound (ref), kCorrupt, kUnsupported (encrypted), kUnavailable: with the location.
// Source: Iceberg table spec, "Scan Planning"; null counts in v1 lists are unknown.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "observe/facts.h"
#include "ports/catalog.h"
#include "ports/file_io.h"

namespace firn::observe {

struct ObserveProgress {
  std::int64_t manifests_done = 0;
  std::int64_t manifests_total = 0;
  std::int64_t entries_read = 0;
};

struct ObserveOptions {
  std::string ref = "main";  // branch or tag
  /// Of the ref's history, instead of its newest one.
  std::optional<SnapshotId> snapshot_id{};
  int threads = 1;
  /// Partitions to look at; empty: all. Called from several threads, once a partition and manifest.
  std::function<bool(SpecId, const iceberg::PartitionTuple&)> partition_filter{};
  /// Manifests that may have entries of such partitions, by their line in the manifest list; empty: all. Must not leave
  /// out one in which partition_filter would find something.
  std::function<bool(const iceberg::ManifestFile&)> manifest_filter{};
  /// Refuse a table in which a path is live twice.
  bool check_duplicates = false;
  /// After each manifest, one call at a time.
  std::function<void(const ObserveProgress&)> progress{};
};

Result<Facts> Observe(const ports::LoadedTable& table, ports::FileIO& io, const ObserveOptions& options,
                      TimestampMs now);

}  // namespace firn::observe
