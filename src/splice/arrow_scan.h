// SPDX-License-Identifier: Apache-2.0
//
// Reads Parquet files the way an engine does, for measuring what that takes: through Arrow's reader, into record
// batches that are thrown away.
//
// In: paths of local files, how many of the first columns. Out: rows and decoded bytes.
// Guarantees: one thread; every value of the columns is decoded; memory is that of a batch and of a row group's pages.
// Cost: the library's.
// Errors: kCorrupt, kUnsupported, kLimit, kUnavailable naming the file; kCancelled between batches.
// Threads: one call a thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace firn::splice {

struct ScanResult {
  std::int64_t rows = 0;
  std::int64_t decoded_bytes = 0;
};

/// `columns_max`: so many leaf columns from the first one on; 0: all. `cancelled` may be null.
Result<ScanResult> ScanFiles(std::span<const std::string> paths, int columns_max, const std::atomic<bool>* cancelled);

}  // namespace firn::splice
