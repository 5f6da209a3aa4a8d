// SPDX-License-Identifier: Apache-2.0
//
// Decides from the state alone whether a partition, or the whole table, has to be scanned: the two prunes before any
// decision about merging.
//
// In: a state, the policy, the time. Out: a verdict with its reason and the numbers behind it.
//   quiet   the noise is below the threshold
//   calm    there was noise, but merging would remove too few files, or the entropy is tolerated, and deletes are few
//   scan    it is to be scanned
// Guarantees: a partition whose removable files reach the policy's number, with an entropy that is not tolerated, is
//   scanned after firn.noise-age-seconds at the latest, and again each such time until it is settled. So is one whose
//   numbers are estimates.
// Cost: O(1) a partition. Threads: pure.
// Source: docs/deciding.md; docs/noise-and-entropy.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "orient/noise.h"

namespace firn::orient {

enum class VerdictKind : std::uint8_t { kQuiet, kCalm, kScan };
/// "quiet", "calm", "scan".
std::string_view VerdictName(VerdictKind kind);

struct Verdict {
  VerdictKind kind = VerdictKind::kQuiet;
  std::string reason;  // a sentence with its numbers
  Noise noise;
  std::int64_t file_count = 0, small_files = 0, removable_files = 0;
  double entropy = 0;
  bool is_estimate = false;  // of small and removable files
};

/// `policy` has the basis that the state was made with.
Verdict Triage(const PartitionState& state, const Policy& policy, TimestampMs now);

}  // namespace firn::orient
