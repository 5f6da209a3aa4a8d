// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a table and what it costs its readers, per partition and in sum.
//
// Guarantees: plain, bounded by the number of partitions, printable as JSON. Made from Facts alone: no clock, no
//   input or output, no randomness.
// Threads: immutable after orient/.
// Source: docs/health-score.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "observe/facts.h"

namespace firn::orient {

struct PartitionDiagnosis {
  std::uint32_t partition = 0;  // index into Facts::partitions
  std::int64_t file_count = 0;
  std::int64_t small_files = 0;         // below the healthy fraction of the target, and allowed to merge
  std::int64_t small_bytes = 0;         // of their live rows
  std::int64_t blocked_files = 0;       // small or due for their deletes, but with a flag that forbids a rewrite
  std::int64_t fold_files = 0;          // due for their deletes (delete_debt.h), small ones included
  std::int64_t files_with_deletes = 0;  // whose readers have to read delete files
  std::int64_t deleted_rows = 0;        // known to be deleted
  double size_mse = 0;                  // mean((target - min(size, target))^2), bytes squared
  double avoidable_error = 0;           // squared error of the small files that merging would remove, in target^2
  std::int64_t removable_files = 0;     // small_files - ceil(small_bytes / target), never below 0
};

/// A part of the health score: 0 (bad) to 100 (nothing to do), with the weight it has in the whole.
struct ScorePart {
  std::string name;
  double score = 100;
  double weight = 0;
  std::string reason;
};

struct Diagnosis {
  std::int64_t target_size_bytes = 0;
  std::int64_t healthy_size_bytes = 0;  // files at least this large are left alone
  std::int64_t file_count = 0, size_bytes = 0, record_count = 0;
  std::int64_t small_files = 0, small_bytes = 0, blocked_files = 0, removable_files = 0;
  std::int64_t fold_files = 0, files_with_deletes = 0, deleted_rows = 0;
  double size_mse = 0;
  double avoidable_error = 0;                  // sum over partitions
  double entropy = 0;                          // sqrt(size_mse) / target: 0 = perfect, 1 = all empty
  std::vector<PartitionDiagnosis> partitions;  // worst first: most removable files, then largest MSE
  double score = 100;
  std::vector<ScorePart> parts;
};

}  // namespace firn::orient
