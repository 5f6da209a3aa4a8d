// SPDX-License-Identifier: Apache-2.0
//
// What happened: commits made, files replaced, bytes per tier, seconds, and everything that could not be done.
//
// Guarantees: plain, printable as JSON. A file that firn wrote and could not remove is named.
// Threads: immutable after act/.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "splice/splice.h"

namespace firn::act {

struct CommitOutcome {
  SnapshotId snapshot_id{0};
  std::int64_t groups = 0;
  std::int64_t files_removed = 0, files_added = 0;
  std::int64_t bytes_removed = 0, bytes_added = 0;
  int attempts = 1;
};

struct GroupFailure {
  std::string partition;
  std::int64_t files = 0;
  Error error;
  /// firn knows these files and does not rewrite them: they stay as they are, and nothing is wrong with that.
  bool is_refusal = false;
};

struct Outcome {
  std::string plan_id;
  std::string table;
  std::vector<CommitOutcome> commits;
  std::vector<GroupFailure> failures;
  std::vector<std::string> leftover_files;  // written by firn, not committed, not removed (or not known)
  std::int64_t leftovers_removed = 0;       // files of earlier runs that were killed
  std::int64_t files_removed = 0, files_added = 0, bytes_removed = 0, bytes_added = 0, rows = 0;
  std::int64_t deleted_rows = 0;  // that are in no added file
  std::array<splice::TierCount, splice::kTierCount> tiers{};
  std::int64_t storage_copied_bytes = 0;  // of the added files, by the storage itself
  std::vector<std::string> notes;  // what the files written lack, and why columns were decoded; bounded in number
  double seconds = 0;
};

}  // namespace firn::act
