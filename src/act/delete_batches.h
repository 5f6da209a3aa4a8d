// SPDX-License-Identifier: Apache-2.0
//
// Reads the planned deletes of data files, batch by batch, and writes what takes their place.
//
// In: facts and plan. Out: which data files were read, and the new delete files, which nobody names yet.
// Guarantees: a data file counts as read only if all its planned deletes were applied but those in `kept`. What cannot
//   be read gives a failure and does not stop the rest. Nothing is written for equality deletes that have to stay, nor
//   is a position delete file given up while one of its rows may be needed: all its paths were looked at. A vector
//   holds all positions of its data file. Batches are bounded by memory, not by the table.
// Cost: see delete_load.h; data files of one batch share one pass over their equality deletes, so batches are as large
//   as memory allows. Partitions are read in parallel where no equality delete reaches all of them. What turns out to
//   have to stay makes the batches that it concerns begin again without it.
// Errors: kUnavailable, kCancelled and those of writing end the work; the files written so far are in `written`.
// Threads: starts `threads` at most and joins them; progress is called by one at a time.
// Source: Iceberg table spec, "Row-level Deletes".
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "act/delete_change.h"
#include "act/delete_load.h"
#include "act/delete_strays.h"
#include "act/outcome.h"
#include "iceberg/name_mapping.h"

namespace firn::act {

struct DeleteBatchOptions {
  int threads = 1;
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  std::size_t batch_files_max = 100'000;
  const std::atomic<bool>* cancelled = nullptr;
  /// Bytes of data files whose deletes were read, of all in the plan; never falls.
  std::function<void(std::int64_t done_bytes, std::int64_t total_bytes)> progress = {};
};

struct DeleteBatches {
  std::vector<ReadTarget> read;  // ascending
  std::vector<WrittenDeletes> written;
  std::vector<std::string> files;      // locations, also when the work failed
  std::vector<GroupFailure> failures;  // delete files, and data files by partition and code
  std::vector<std::uint32_t> kept;     // planned deletes that have to stay, ascending
  DeleteStrays::Dangling dangling;     // see DeleteRewrite
  EqualityStatistics statistics;
  std::int64_t rows_converted = 0;  // that only equality deletes had deleted
};

/// Makes UUIDs for the names of files; called by one thread.
using NewUuid = std::function<std::string()>;

/// `batches` is filled as far as the work came.
Status ReadAndWriteDeletes(const observe::DeleteFacts& facts, const decide::DeletePlan& plan,
                           const iceberg::TableMetadata& metadata, ports::FileIO& io, const NewUuid& new_uuid,
                           const DeleteBatchOptions& options, DeleteBatches& batches);

}  // namespace firn::act
