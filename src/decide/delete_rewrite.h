// SPDX-License-Identifier: Apache-2.0
//
// Decides which delete files are converted, merged or dropped, and which data files must be read for it.
//
// In: DeleteFacts, options. Out: DeletePlan.
// Guarantees: an equality delete file is planned only if every data file that it applies to can be read; a plan made
//   after this one was carried out, with nothing else changed, is empty. Data files and deletes about which readers
//   disagree are left alone. The same input gives the same plan.
// Cost: O(data files with deletes + delete files), times the equality deletes of those that cannot be read.
// Threads: pure; a plan is a value.
// Source: Iceberg table spec, "Row-level Deletes", "Scan Planning"; Java RewritePositionDeleteFiles.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decide/partition_selection.h"
#include "decide/plan.h"
#include "observe/delete_facts.h"

namespace firn::decide {

// Codes of refusals, besides those of decide.h.
inline constexpr std::string_view kCodeDoubtful = "doubtful";  // a delete does not fit the data file that it names
inline constexpr std::string_view kCodeGlobal = "global";      // it reaches partitions that were not selected

struct DeleteRewriteOptions {
  std::string plan_id = {};
  bool enabled = true;
  bool equality = true;   // to positions, or vectors where the format has them
  bool positions = true;  // many files to few, or to vectors
  bool dangling = true;   // those that apply to nothing
  /// Position delete files below three quarters of the target are merged if there are so many of a partition.
  std::int32_t min_input_files = 5;
  std::int64_t target_size_bytes = std::int64_t{64} << 20;
  /// Merge position deletes of one data file only.
  bool by_file = false;
  /// Of its rows: position deletes of a data file that reach it have a file of their own, so that readers and
  /// `optimize` see from its entry how many rows are deleted. That of orient::Policy.
  double own_file_ratio = 0.3;
  const PartitionSelection* selection = nullptr;  // borrowed; null: everything
};

struct DeletePlan {
  std::string plan_id;
  std::string table;
  std::string ref = "main";
  std::optional<SnapshotId> base_snapshot_id;
  SequenceNumber base_sequence_number{0};
  std::int32_t format_version = 2;
  bool writes_vectors = false;
  bool by_file = false;
  std::int64_t target_size_bytes = 0;
  double own_file_ratio = 1;
  std::vector<std::uint32_t> deletes;  // that go, ascending: indexes into the entries of DeleteFacts::deletes
  std::vector<std::uint32_t> targets;  // whose deletes are read, ascending: indexes into DeleteFacts::targets
  std::int64_t equality_files = 0, position_files = 0, dangling_files = 0;  // of `deletes`
  std::int64_t scanned_files = 0, scanned_rows = 0;                         // data files whose key columns are read
  std::vector<Refusal> refusals;                                            // counts are delete files
  std::string reason;                                                       // one sentence for the whole
};

DeletePlan PlanDeleteRewrite(const observe::DeleteFacts& facts, const DeleteRewriteOptions& options);

}  // namespace firn::decide
