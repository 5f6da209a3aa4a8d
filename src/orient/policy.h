// SPDX-License-Identifier: Apache-2.0
//
// Holds what a table's owner wants: file sizes, thresholds, what may be merged.
//
// In: table properties. Out: a policy with every threshold set.
// Guarantees: a policy that ReadPolicy or CheckPolicy finds no fault in keeps healthy_fraction <= 1 and
//   max_fraction >= 2 * healthy_fraction, so that any amount of data of at least the healthy size divides into files
//   between the two, and at most one smaller file is left in a partition.
// Errors: kInvalidArgument naming the key; unknown `firn.*` keys are errors, so that a spelling mistake is not
//   silence.
// Threads: value type. Source: docs/packing.md, docs/cli.md.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "observe/facts.h"
#include "orient/policy_fault.h"

namespace firn::orient {

inline constexpr std::int64_t kDefaultTargetSizeBytes = std::int64_t{512} << 20;

struct Policy {
  bool enabled = true;
  std::int64_t target_size_bytes = kDefaultTargetSizeBytes;
  /// Files of at least this part of the target are left alone. Iceberg's own rewrite uses the same.
  double healthy_fraction = 0.75;
  /// No output is predicted above this part of the target. Twice the healthy fraction is the least that lets
  /// every amount divide; it stays a fifth below the 1.8 at which Iceberg's own rewrite splits files, so that an
  /// error of prediction does not start a ping-pong between the two.
  double max_fraction = 1.5;
  /// A merge whose output stays small must join at least so many files.
  std::int32_t min_input_files = 5;
  /// A partition is left alone while sqrt(MSE) / target is at most this.
  double tolerated_entropy = 0;
  /// A file is rewritten for its deletes alone when at least this part of its rows is known to be deleted, ...
  double delete_ratio_threshold = 0.3;
  /// ... or when a reader of it has to read at least so many delete files, as Spark's `delete-file-threshold`. 0: when
  /// it pays (DeleteFilesDue in delete_debt.h).
  std::int32_t delete_file_threshold = 0;
  /// A partition is looked at when the noise since its last scan reaches this (noise.h). 0: at every change.
  double noise_threshold = 1;
  /// Weights of: files changed of those that were there, bytes changed in targets, commits.
  double noise_file_weight = 1, noise_byte_weight = 0.25, noise_commit_weight = 0.02;
  /// Changes of that age reach the threshold by themselves, so that nothing is forgotten.
  std::int64_t noise_age_seconds = 86'400;
  /// A partition is worth a scan when merging could remove so many files. 0: one less than min_input_files.
  std::int32_t min_removable_files = 0;
  /// "fast", "balanced" or "dense": how much a merge may recode to save bytes.
  std::string effort = "balanced";
  /// "never", "auto" or "always": whether the plan's snapshot gets a tag while a rewrite runs.
  std::string pin_plan_snapshot = "auto";
  /// Bits of observe::FileFlag that the merge can deal with; files with other flags are refused.
  std::uint16_t mergeable_flags = observe::kRewritableFlags;

  std::int64_t healthy_size_bytes() const;
  std::int64_t size_max_bytes() const;
  friend bool operator==(const Policy&, const Policy&) = default;
  std::int64_t removable_files_min() const;
};

using Properties = std::map<std::string, std::string, std::less<>>;

/// Sets `policy` from a table's properties, or says what is wrong with them. `firn.target-file-size-bytes` falls back
/// to `write.target-file-size-bytes`, then to 512 MiB.
std::optional<PolicyFault> ReadPolicy(const Properties& properties, Policy& policy);
/// The same where nobody asks for the keys.
Result<Policy> PolicyFromProperties(const Properties& properties);

/// kInvalidArgument naming what does not fit together.
Status CheckPolicy(const Policy& policy);

}  // namespace firn::orient
