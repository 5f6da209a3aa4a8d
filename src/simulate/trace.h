// SPDX-License-Identifier: Apache-2.0
//
// What writers do to tables, commit by commit: the input of a simulation.
//
// Guarantees: a trace gives its commits in the order of time, and knows nothing of what an optimizer did meanwhile.
// Cost: one commit at a time; a trace of any length is not held.
// Threads: one owner.
// Source: docs/simulator.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace firn::simulate {

struct NewFile {
  std::int64_t size_bytes = 0;
  std::int64_t rows = 0;
  // Of files that are older than the trace.
  std::int64_t deleted_rows = 0;      // by its deletion vector
  std::int32_t equality_deletes = 0;  // how many of the commit's apply to it
};

/// How a writer deletes rows of files that are there already.
enum class DeleteKind : std::uint8_t {
  kNone,
  kVectors,   // one deletion vector a file that it touches: the number of deleted rows is known
  kEquality,  // one equality delete file, which applies to every older file of the partition
};

/// What a commit does to one partition.
struct PartitionCommit {
  std::uint32_t partition = 0;  // of the table, counted from 0
  std::vector<NewFile> added;
  std::vector<std::int64_t> removed_sizes;  // files that the writer took away or replaced
  DeleteKind deletes = DeleteKind::kNone;
  std::int64_t deleted_rows = 0;
  /// Where among the partition's rows the deleted ones are, oldest first: parts of 1.
  std::vector<float> places;
  /// Equality delete files besides, of which it is not known what rows they delete.
  std::int32_t equality_deletes = 0;
  bool removes_all = false;  // whatever is there, not only files of `removed_sizes`
};

struct Commit {
  TimestampMs at;
  std::uint32_t table = 0;
  std::vector<PartitionCommit> partitions;
};

class Trace {
 public:
  virtual ~Trace() = default;
  /// False at the end; `commit` is unchanged then.
  virtual bool Next(Commit& commit) = 0;
  virtual std::uint32_t table_count() const = 0;
};

}  // namespace firn::simulate
