// SPDX-License-Identifier: Apache-2.0
#include "orient/noise.h"

#include <algorithm>

namespace firn::orient {

Noise MeasureNoise(const PartitionState& state, const Policy& policy, TimestampMs now) {
  Noise noise;
  noise.threshold = policy.noise_threshold;
  if (state.pending_since == 0) return noise;
  noise.is_pending = true;
  // Few files are not doubled by one more: fewer than a merge needs count as that many.
  const double files_then = std::max<double>(state.files_at_scan, policy.min_input_files);
  noise.files = policy.noise_file_weight * state.files_changed / files_then;
  noise.bytes = policy.noise_byte_weight * static_cast<double>(state.bytes_changed) /
                static_cast<double>(policy.target_size_bytes);
  noise.commits = policy.noise_commit_weight * state.commits;
  noise.age_seconds = std::max(0.0, static_cast<double>(now.value) / 1000 - static_cast<double>(state.pending_since));
  const double age = noise.age_seconds / static_cast<double>(policy.noise_age_seconds);
  noise.age = policy.noise_threshold * age;
  noise.is_overdue = age >= 1;
  return noise;
}

}  // namespace firn::orient
