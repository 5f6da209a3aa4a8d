// SPDX-License-Identifier: Apache-2.0
//
// One batch of data files: what was read of their deletes, and the files that are written for it.
//
// In: a batch whose deletes were read. Out: its new delete files, which nobody names yet.
// Guarantees: data files without rows (an error) get nothing and do not count as read. No vector is written that says
//   what the old one says.
// Cost: O(positions). Threads: one owner a batch.
// Errors: those of writing; the files that were created are in DeleteBatch::done.
// Source: Iceberg table spec, "Delete Formats".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "act/delete_batches.h"
#include "act/delete_load.h"

namespace firn::act {

struct DeleteBatch {
  std::size_t begin = 0, end = 0;  // of DeletePlan::targets
  std::string uuid;                // part of the names of files
  std::size_t version = 0;         // of the obstacles that were known when it began
  DeleteBatches done;
};

/// One batch with its data files and their deletes.
struct LoadedDeletes {
  std::vector<iceberg::DataFile> data;
  std::vector<DataFileDeletes> deletes;
  std::vector<DataFileDeletes> staying;               // of those, position deletes that are not replaced
  std::vector<bool> is_stuck;                         // it can get no vector
  std::vector<const iceberg::DeleteEntry*> equality;  // that are converted
  std::vector<Result<DeletedRows>> rows;
  EqualityStatistics statistics;
};

/// Fills `batch.done`.
Status WriteBatch(const iceberg::TableMetadata& metadata, ports::FileIO& io, const decide::DeletePlan& plan,
                  DeleteBatch& batch, const LoadedDeletes& loaded);

}  // namespace firn::act
