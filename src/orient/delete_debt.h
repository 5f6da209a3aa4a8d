// SPDX-License-Identifier: Apache-2.0
//
// What deletes cost the readers of a data file, and when that is a reason to rewrite it.
//
// In: a file's facts, the policy. Out: live size, deleted ratio, whether a rewrite is due.
// Guarantees: only rows that are surely deleted count, as in Iceberg's own rewrite: the debt of a file does not change
//   when other files are rewritten, and a rewritten file has none. So a second plan finds no debt that the first did
//   not.
// Cost: O(1) a file. Threads: pure.
// Source: docs/packing.md ("Deletes").
#pragma once

#include <cstdint>

#include "observe/facts.h"
#include "orient/policy.h"

namespace firn::orient {

/// Bytes that the rows which are not deleted have, all rows being alike.
std::int64_t LiveSizeBytes(const observe::DataFileFacts& file);
/// Rows known to be deleted, of all rows; 0 to 1.
double DeletedRatio(const observe::DataFileFacts& file);
/// Whether the file is worth rewriting for its deletes alone.
bool IsFoldDue(const observe::DataFileFacts& file, const Policy& policy);

}  // namespace firn::orient
