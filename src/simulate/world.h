// SPDX-License-Identifier: Apache-2.0
//
// Tables as a simulation knows them: the files of each partition by size, rows, age and deletes.
//
// In: commits of writers, finished merges. Out: files, sums over all tables.
// Guarantees: rows are conserved: live rows = rows added - rows deleted or removed, whatever was merged; sums are
//   updated in O(changed files) and equal a recount (Check). Sizes of outputs follow decide's own prediction; deletes
//   that arrive while a merge runs are carried over to its output.
// Cost: 48 bytes a file. O(files of the partition) for a commit with deletes, O(changed files) for others.
// Errors: kInternal naming the table: the simulation is wrong.
// Threads: one owner.
// Source: Iceberg table spec, "Scan Planning" (which deletes apply);
//   docs/decisions/0002-sequence-number-of-merged-files.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "simulate/trace.h"

namespace firn::simulate {

struct StoredFile {
  std::int64_t size_bytes = 0;
  std::int64_t rows = 0;
  std::int64_t dead_rows = 0;    // by its deletion vector: known to readers of the manifests
  std::int64_t hidden_rows = 0;  // by equality deletes: known only after a merge
  std::int64_t sequence = 0;     // data sequence number
  std::uint32_t id = 0;          // in the partition, ascending
};

struct StoredPartition {
  std::vector<StoredFile> files;               // by id
  std::vector<std::int64_t> equality_deletes;  // sequence numbers, ascending
  std::uint32_t next_id = 0;
  std::int32_t small_files = 0;
  std::int32_t vectors = 0;  // files that have one
  /// Vectors that the last commit wrote: one a file that it touched, in place of those that the files had.
  std::int32_t vectors_added = 0, vectors_removed = 0;
  bool is_busy = false;  // a merge of it waits or runs
};

/// Files that one merge replaces, as they were when it was planned.
struct MergeInput {
  std::uint32_t id = 0;
  std::int64_t dead_rows = 0, hidden_rows = 0;
};

struct Merge {
  std::vector<MergeInput> inputs;
  std::int32_t outputs = 1;
  std::int64_t output_bytes = 0;  // of each, as predicted from what is known
  std::int64_t input_bytes = 0;
  double seconds = 0;  // of one worker
};

/// What one worker does at a stretch: merges of one partition, or the conversion of its equality deletes to vectors.
struct Job {
  std::uint32_t table = 0, partition = 0;
  std::int64_t sequence = 0;  // of the snapshot that it was planned on
  std::vector<Merge> merges;
  bool converts_deletes = false;
  std::vector<MergeInput> targets;  // of a conversion: files whose keys are read
  double seconds = 0;

  bool is_empty() const { return merges.empty() && targets.empty(); }
};

/// Sums over all tables.
struct Totals {
  std::int64_t files = 0, small_files = 0, bytes = 0, rows = 0;
  std::int64_t vectors = 0, equality_deletes = 0;
  std::int64_t delete_reads = 0;  // delete files that readers of the files have to open, counted for each file
  friend bool operator==(const Totals&, const Totals&) = default;
};

/// What a job did when it was applied: a snapshot of its own.
struct Applied {
  std::int64_t merges = 0, overtaken = 0;  // overtaken: a writer had taken an input away
  std::int64_t files_replaced = 0, files_made = 0;
  std::int64_t bytes_read = 0, bytes_written = 0;
  std::vector<NewFile> removed, added;
  std::int64_t vectors_added = 0, vectors_removed = 0, equality_deletes_removed = 0;
};

class World {
 public:
  World(std::uint32_t tables, std::int64_t healthy_size_bytes);

  /// Changes that a writer made. Partitions come into being as they are named. Where a merge has replaced a file that
  /// the writer takes away, `commit` is changed to what the writer does then: the largest files go until its bytes have
  /// gone, and one with the rest of the last comes.
  void Apply(Commit& commit);
  Applied Apply(const Job& job);

  std::uint32_t table_count() const { return static_cast<std::uint32_t>(tables_.size()); }
  std::uint32_t partition_count(std::uint32_t table) const {
    return static_cast<std::uint32_t>(tables_[table].partitions.size());
  }
  const StoredPartition& partition(std::uint32_t table, std::uint32_t partition) const {
    return tables_[table].partitions[partition];
  }
  std::int64_t sequence(std::uint32_t table) const { return tables_[table].sequence; }
  void SetBusy(std::uint32_t table, std::uint32_t partition, bool is_busy) {
    tables_[table].partitions[partition].is_busy = is_busy;
  }
  const Totals& totals() const { return totals_; }
  std::int64_t bytes_ingested() const { return bytes_ingested_; }
  /// Removals of files that a merge had replaced.
  std::int64_t removals_redirected() const { return removals_redirected_; }

  /// Equality deletes that apply to a file.
  static std::int64_t EqualityDeletesOf(const StoredPartition& partition, const StoredFile& file);
  static std::int64_t DeleteReadsOf(const StoredPartition& partition, const StoredFile& file) {
    return EqualityDeletesOf(partition, file) + (file.dead_rows > 0 ? 1 : 0);
  }
  bool IsSmall(const StoredFile& file) const;

  /// Counts everything again. kInternal if a sum, the rows or an id is wrong.
  Status Check() const;

 private:
  struct Table {
    std::vector<StoredPartition> partitions;
    std::int64_t sequence = 0;
  };

  void Count(StoredPartition& partition, const StoredFile& file, std::int64_t sign);
  void Delete(StoredPartition& partition, const PartitionCommit& change, std::int64_t sequence);
  std::int64_t DeleteInFile(StoredPartition& partition, StoredFile& file, std::int64_t rows, DeleteKind kind);
  void DeleteByKeys(StoredPartition& partition, const PartitionCommit& change, std::int64_t sequence);
  void Add(StoredPartition& partition, const NewFile& added, std::int64_t sequence);
  std::int64_t TakeAway(StoredPartition& partition, std::vector<StoredFile>::iterator file);
  void Remove(StoredPartition& partition, PartitionCommit& change);
  void DropDeadDeletes(StoredPartition& partition, Applied& applied);
  void ApplyConversion(StoredPartition& partition, const Job& job, Applied& applied);
  void ApplyMerge(StoredPartition& partition, const Merge& merge, const Job& job, Applied& applied);

  std::vector<Table> tables_;
  const std::int64_t healthy_size_bytes_;
  Totals totals_;
  std::int64_t bytes_ingested_ = 0;
  std::int64_t rows_added_ = 0, rows_deleted_ = 0;
  std::int64_t removals_redirected_ = 0;
};

/// What a conversion reads of a file: a key of 8 bytes a row. And what it writes: two bytes a deleted row, as an array
/// of a Roaring bitmap has them.
inline constexpr std::int64_t kKeyBytes = 8, kPositionBytes = 2;

/// Rows that a reader sees.
inline std::int64_t LiveRows(const StoredFile& file) { return file.rows - file.dead_rows - file.hidden_rows; }

}  // namespace firn::simulate
