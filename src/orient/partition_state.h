// SPDX-License-Identifier: Apache-2.0
//
// What is known of a partition without reading it: sums that a commit's delta updates, and what happened since a scan.
//
// In: files that came and went. Out: the same numbers as counting all files of the partition anew.
// Guarantees: file_count, the squared error, size_bytes, small_files and small_bytes are integers that depend on a
//   file's entry alone: adding and removing gives bit by bit what counting anew gives, in any order. What depends on
//   deletes (small_files_delta, small_bytes_delta, fold_files) is that of the last scan, and an estimate after the next
//   change.
// Cost: 104 bytes; O(1) a file.
// Threads: value type.
// Source: docs/deciding.md.
#pragma once

#include <cstdint>
#include <type_traits>

#include "base/time.h"
#include "observe/change.h"
#include "orient/policy.h"

namespace firn::orient {

/// What of a policy the sums depend on: under another one they have to be counted anew.
struct StateBasis {
  std::int64_t target_size_bytes = 0;
  std::int64_t healthy_size_bytes = 0;
  double delete_ratio_threshold = 0;
  std::int32_t delete_file_threshold = 0;
  std::uint16_t mergeable_flags = 0;
  friend bool operator==(const StateBasis&, const StateBasis&) = default;
};
StateBasis BasisOf(const Policy& policy);

enum StateFlag : std::uint32_t {
  kEstimated = 1 << 0,     // deletes or own rewrites may have changed what the last scan found
  kForgotten = 1 << 1,     // it was not tracked when a change came: only the noise is known
  kContradicted = 1 << 2,  // more was removed than was known, or a sum overflows: the state is wrong
};

struct PartitionState {
  /// Sum of (target - min(size, target))^2 over the files, low and high half.
  std::uint64_t error_squares_low = 0, error_squares_high = 0;
  std::int64_t size_bytes = 0;
  std::int64_t small_bytes = 0;        // of small_files
  std::int64_t small_bytes_delta = 0;  // what deletes add to that
  std::int64_t bytes_changed = 0;      // of data files, since the last scan
  std::uint32_t file_count = 0;
  std::uint32_t small_files = 0;       // below the healthy size, of a kind that may be merged
  std::int32_t small_files_delta = 0;  // small by live rows only, less those that deletes forbid to merge
  std::uint32_t position_delete_files = 0, equality_delete_files = 0;  // the former with deletion vectors
  std::uint32_t fold_files = 0;                                        // due for their deletes at the last scan
  std::uint32_t files_at_scan = 0;
  std::uint32_t files_changed = 0;         // since the last scan, data and deletes, added and removed
  std::uint32_t delete_files_changed = 0;  // of these, deletes that were added
  std::uint32_t commits = 0;               // since the last scan
  /// Seconds since 1970; 0: never, or nothing pending. Pending is what nobody has looked at: foreign changes since the
  /// last scan, or what the last scan found worth doing.
  std::uint32_t pending_since = 0, last_change = 0, last_scan = 0;
  std::uint32_t flags = 0;  // StateFlag bits

  bool is_exact() const { return flags == 0; }
  bool has_numbers() const { return (flags & (kForgotten | kContradicted)) == 0; }
  friend bool operator==(const PartitionState&, const PartitionState&) = default;
};
static_assert(sizeof(PartitionState) == 104 && std::is_trivially_copyable_v<PartitionState>);

/// Without effect on a state that has no numbers. A removed file that cannot have been there, and a sum that would
/// overflow, contradict the state.
void AddFile(const observe::ChangedFile& file, const StateBasis& basis, PartitionState& state);
void RemoveFile(const observe::ChangedFile& file, const StateBasis& basis, PartitionState& state);

/// mean((target - min(size, target))^2), bytes squared.
double MeanSquaredErrorOf(const PartitionState& state);
/// sqrt(MSE) / target.
double EntropyOf(const PartitionState& state, std::int64_t target_size_bytes);
/// Position delete files, deletion vectors and equality delete files.
std::int64_t DeleteFilesOf(const PartitionState& state);
std::int64_t SmallFilesOf(const PartitionState& state);
std::int64_t SmallBytesOf(const PartitionState& state);
/// small files - ceil(small bytes / target), never below 0: as in PartitionDiagnosis.
std::int64_t RemovableFilesOf(const PartitionState& state, std::int64_t target_size_bytes);

/// Whole seconds, as the state keeps them; 1 at least, so that 0 stays "never".
std::uint32_t StateSeconds(TimestampMs time);

}  // namespace firn::orient
