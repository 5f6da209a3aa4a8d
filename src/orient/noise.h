// SPDX-License-Identifier: Apache-2.0
//
// How much has happened to a partition since somebody last looked at all of it.
//
// In: its state, the policy, the time. Out: the parts of a weighted sum, and the sum.
//   files   weight x files changed / max(files at the last scan, firn.min-input-files)
//   bytes   weight x bytes changed / target
//   commits weight x commits
//   age     threshold x age of what is pending / firn.noise-age-seconds
// Guarantees: each part is at least 0 and does not fall before the next scan, and whatever is pending reaches the
//   threshold by its age at last. Without anything pending the noise is 0. A clock that goes back gives an age of 0.
// Cost: O(1). Threads: pure.
// Source: docs/noise-and-entropy.md.
#pragma once

#include "base/time.h"
#include "orient/partition_state.h"

namespace firn::orient {

struct Noise {
  double files = 0, bytes = 0, commits = 0, age = 0;
  double age_seconds = 0;
  double threshold = 0;
  bool is_pending = false;
  double total() const { return files + bytes + commits + age; }
  bool is_above() const { return is_pending && total() >= threshold; }
  /// What is pending is so old that estimates are not enough any more.
  bool is_overdue = false;
};

Noise MeasureNoise(const PartitionState& state, const Policy& policy, TimestampMs now);

}  // namespace firn::orient
