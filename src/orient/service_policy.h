// SPDX-License-Identifier: Apache-2.0
//
// What a table's owner wants of work that starts by itself: how important it is, how much it may cost, and when.
//
// In: table properties (`firn.*`), or the same keys of a policy file. Out: a policy with every member set.
// Guarantees: a budget that is not set does not limit.
// Errors: faults of one key.
// Threads: value type. Source: docs/deciding.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "orient/policy_fault.h"
#include "orient/quiet_hours.h"

namespace firn::orient {

inline constexpr double kPriorityMin = 0.01, kPriorityMax = 100;

/// What work may cost; of a table, a database, or everything. nullopt: no limit.
struct BudgetLimits {
  std::optional<std::int64_t> bytes_per_hour = {};
  std::optional<double> worker_seconds_per_hour = {};
  std::optional<std::int32_t> concurrent_jobs = {};

  friend bool operator==(const BudgetLimits&, const BudgetLimits&) = default;
};

struct ServicePolicy {
  double priority = 1;  // twice the number is twice as worth doing
  BudgetLimits budget;
  QuietHours quiet_hours;
  /// Automatic work is to be finished so long after it was found; nullopt: no deadline.
  std::optional<std::int64_t> finish_within_ms;
  /// Work on a partition that is being written is put off so many times, then it runs anyway.
  std::int32_t max_deferrals = 5;
  /// The table is analysed so often, when there is nothing better to do; 0: only when it is asked for.
  std::int32_t analyze_every_days = 0;
  /// Whether the service takes the file size that an analysis proposes.
  bool analyze_apply = false;

  friend bool operator==(const ServicePolicy&, const ServicePolicy&) = default;
};

/// Keys without "firn." in front, in order.
const std::vector<std::string_view>& ServicePolicyKeys();
bool IsServicePolicyKey(std::string_view key_without_prefix);

/// Sets one member from its text. A fault: the value, or a key that is none of ServicePolicyKeys().
std::optional<PolicyFault> SetServicePolicy(ServicePolicy& policy, std::string_view key_without_prefix,
                                            const std::string& value);

}  // namespace firn::orient
