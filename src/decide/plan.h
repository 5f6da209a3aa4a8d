// SPDX-License-Identifier: Apache-2.0
//
// What to do: groups of files that become one file each, in the order of their worth, and why not the others.
//
// Guarantees: plain, printable as JSON; names the snapshot it was made from. Every file is in at most one group;
//   all files of a group have one partition spec and one tuple; a group has at least two files, or one that is due
//   for its deletes; no two groups' outputs would be merged again by the same settings, unless `is_divided`.
// Threads: immutable after decide/.
// Source: docs/packing.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "orient/diagnosis.h"

namespace firn::decide {

/// Files that are replaced by one output file, or by none if all their rows are deleted.
struct MergeGroup {
  std::uint32_t partition = 0;       // index into Facts::partitions
  std::vector<std::uint32_t> files;  // indexes into Facts::files, in output row order
  std::int64_t input_bytes = 0;
  std::int64_t input_records = 0;
  std::int64_t deleted_rows = 0;       // of the inputs, known from the manifests: more may drop out
  std::int64_t delete_files = 0;       // that readers of the inputs have to read, one counted for each input
  bool may_delete_more = false;        // rows whose number is not known without reading delete files
  std::int64_t predicted_outputs = 1;  // 0: all rows are deleted
  std::int64_t predicted_output_bytes = 0;
  double predicted_seconds = 0;    // of one worker
  double value = 0;                // benefit per cost: what groups are ordered by
  bool keeps_order = false;        // inputs are disjoint in the sort order; the output stays sorted
  std::int32_t sort_order_id = 0;  // of the output
  std::string why;                 // one sentence
};

/// Why files of a partition, or of the table, are left as they are.
struct Refusal {
  std::string partition;  // text; empty: the whole table
  std::string reason;     // a sentence
  std::string code;       // stable word: decide.h lists them
  std::int64_t files = 0;
  std::int64_t bytes = 0;
  std::int64_t partitions = 1;  // that the line is about
};

struct Plan {
  std::string plan_id;
  std::string table;
  std::string ref = "main";
  std::optional<SnapshotId> base_snapshot_id;
  SequenceNumber base_sequence_number{0};
  std::int64_t target_size_bytes = 0;
  std::vector<MergeGroup> groups;  // best first
  std::vector<Refusal> refusals;
  std::int64_t files_before = 0, files_after = 0, files_replaced = 0;
  std::int64_t bytes_rewritten = 0;
  std::int64_t deleted_rows = 0;  // that surely drop out
  double predicted_seconds = 0;
  double size_mse_before = 0, size_mse_after = 0;
  /// Groups ended at kInputFilesMax while their outputs are small: a plan after this one may join those.
  bool is_divided = false;
  std::vector<std::string> notes;  // what a reader of the table may notice afterwards
  std::string reason;              // one sentence for the whole
};

}  // namespace firn::decide
