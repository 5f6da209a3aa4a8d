// SPDX-License-Identifier: Apache-2.0
//
// What deletes cost the readers of a data file, and when that is a reason to rewrite it.
//
// In: a file's facts, the policy. Out: live size, deleted ratio, whether a rewrite is due.
// Guarantees: only rows that are surely deleted count, as in Iceberg's own rewrite: the debt of a file does not change
//   when other files are rewritten, and a rewritten file has none. So a second plan finds no debt that the first did
//   not.
// Cost: O(1) a file. Threads: pure.
// Source: docs/packing.md ("Deletes"); an open file counts as 4 MiB in Iceberg's scan planning
//   (read.split.open-file-cost).
#pragma once

#include <cstdint>

#include "observe/facts.h"
#include "orient/policy.h"

namespace firn::orient {

/// What opening a file costs its reader, in bytes.
inline constexpr std::int64_t kOpenCostBytes = std::int64_t{4} << 20;

/// Bytes that the rows which are not deleted have, all rows being alike.
std::int64_t LiveSizeBytes(const observe::DataFileFacts& file);
/// Rows known to be deleted, of all rows; 0 to 1.
double DeletedRatio(const observe::DataFileFacts& file);
/// Delete files that are many for any data file, and for a table.
inline constexpr std::int32_t kManyDeleteFiles = 40;
/// From so many delete files on, a data file of that size is due for their number: Policy::delete_file_threshold, or
/// when opening them once costs a reader as many bytes as reading and writing the file does. Below that, a conversion
/// (decide/delete_rewrite.h) saves all opens but one and reads no more of the file than its keys.
std::int64_t DeleteFilesDue(std::int64_t size_bytes, const Policy& policy);
/// For numbers of delete files whose data files are not known: Policy::delete_file_threshold, or kManyDeleteFiles.
std::int64_t ManyDeleteFiles(const Policy& policy);
/// Whether the file is worth rewriting for its deletes alone.
bool IsFoldDue(const observe::DataFileFacts& file, const Policy& policy);

}  // namespace firn::orient
