// SPDX-License-Identifier: Apache-2.0
//
// Decides which files of a table are merged, in which order, and says why the others are not.
//
// In: Facts, their Diagnosis, Policy, options. Out: Plan.
// Guarantees: those of plan.h; the same input gives the same plan; a plan made after this one has been applied, with
//   nothing else changed and sizes as predicted, is empty. Every small file that is left has a refusal (after
//   `refusals_max` of them, one for each code for the rest).
// Cost: O(files log files) for any table; memory about 100 bytes a small file of the largest partition.
// Errors: only those of the key range look-up.
// Threads: pure.
// Source: docs/packing.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "decide/cost.h"
#include "decide/plan.h"
#include "observe/facts.h"
#include "orient/diagnosis.h"
#include "orient/policy.h"

namespace firn::decide {

// Codes of refusals.
inline constexpr std::string_view kCodeDeletes = "deletes";         // delete files apply to the file
inline constexpr std::string_view kCodeRowLineage = "row-lineage";  // v3 row ids would have to be kept
inline constexpr std::string_view kCodeFormat = "format";           // not Parquet
inline constexpr std::string_view kCodeEncrypted = "encrypted";
inline constexpr std::string_view kCodeTransform = "unknown-transform";  // of the file's partition spec
inline constexpr std::string_view kCodeHealthy = "healthy";              // large enough
inline constexpr std::string_view kCodeSingle = "single";                // nothing to merge it with
inline constexpr std::string_view kCodeFew = "few";                      // too few and too small to be worth a commit
inline constexpr std::string_view kCodeNotWorth = "not-worth";           // many bytes to rewrite for little
inline constexpr std::string_view kCodeOrder = "order";                  // neighbours in the sort order are barriers
inline constexpr std::string_view kCodeTolerated = "tolerated";          // entropy is within the policy's tolerance
inline constexpr std::string_view kCodeBudget = "budget";                // max_bytes is used up
inline constexpr std::string_view kCodeExcluded = "excluded";            // outside of the partition filter
inline constexpr std::string_view kCodeDisabled = "disabled";            // firn.enabled=false

/// Places of a file's smallest and largest sort key among all keys of one look-up. File a may stand before file b,
/// and their rows in this order are sorted, exactly when a.high <= b.low.
struct KeyRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Key ranges of files (indexes into Facts::files), one for each; nullopt where bounds are unknown. Called at most
/// once a plan, with the files of all partitions in which something could be merged.
using KeyRangeLookup =
    std::function<Result<std::vector<std::optional<KeyRange>>>(const std::vector<std::uint32_t>& files)>;

struct DecideOptions {
  std::string plan_id = {};
  /// Bytes that the plan may read, best groups first; groups that do not fit are skipped.
  std::optional<std::int64_t> max_bytes = std::nullopt;
  /// Empty: all partitions.
  std::function<bool(const observe::PartitionFacts&)> partition_filter = {};
  /// Set for tables with a sort order; empty otherwise.
  KeyRangeLookup key_ranges = {};
  CostModel cost = {};
  std::size_t refusals_max = 1000;
  /// The facts are about selected partitions of the table alone.
  bool is_selection = false;
};

Result<Plan> Decide(const observe::Facts& facts, const orient::Diagnosis& diagnosis, const orient::Policy& policy,
                    const DecideOptions& options);

}  // namespace firn::decide
