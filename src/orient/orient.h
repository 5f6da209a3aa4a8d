// SPDX-License-Identifier: Apache-2.0
//
// Finds out what is wrong with a table and what it costs its readers.
//
// In: Facts, Policy. Out: Diagnosis.
// Guarantees: the same facts and policy give the same diagnosis; every partition that holds files has a line.
// Cost: O(files + partitions log partitions). Threads: pure.
// Source: docs/health-score.md, docs/packing.md.
#pragma once

#include "observe/facts.h"
#include "orient/diagnosis.h"
#include "orient/policy.h"

namespace firn::orient {

/// `policy` has passed CheckPolicy.
Diagnosis Diagnose(const observe::Facts& facts, const Policy& policy);

/// What a file merge may do with a file under a policy.
enum class FileClass {
  kHealthy,
  kSmall,    // its live rows are few
  kFold,     // large, but due for its deletes
  kBlocked,  // small or due, with a flag that the policy does not allow
};
FileClass Classify(const observe::DataFileFacts& file, const Policy& policy);

}  // namespace firn::orient
