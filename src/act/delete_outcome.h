// SPDX-License-Identifier: Apache-2.0
//
// What happened to delete files: which went, which came, what was read for it, and everything that could not be done.
//
// Guarantees: plain, printable as JSON. A file that firn wrote and could not remove is named.
// Threads: immutable after act/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "act/outcome.h"
#include "base/ids.h"

namespace firn::act {

struct DeleteOutcome {
  std::string plan_id;
  std::string table;
  std::optional<SnapshotId> snapshot_id;  // absent: nothing was committed
  int attempts = 0;
  std::int64_t equality_files_removed = 0, position_files_removed = 0, vectors_removed = 0;
  std::int64_t position_files_added = 0, vectors_added = 0;
  std::int64_t bytes_removed = 0, bytes_added = 0;  // of delete files; of a vector its own
  std::int64_t files_kept = 0;                      // delete files that were to go and are still needed
  std::int64_t data_files_read = 0;                 // of which deletes were read
  std::int64_t rows_scanned = 0;                    // keys of rows that were compared, in all passes
  std::int64_t rows_converted = 0;                  // that only equality deletes had deleted
  std::int64_t passes = 0;
  std::vector<GroupFailure> failures;  // files are data files
  std::vector<std::string> leftover_files;
  std::int64_t leftovers_removed = 0;  // files of earlier runs that were killed
  std::vector<std::string> notes;
  double seconds = 0;
};

}  // namespace firn::act
