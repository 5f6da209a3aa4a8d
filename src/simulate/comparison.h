// SPDX-License-Identifier: Apache-2.0
//
// Sets the results of policies beside each other, and beside the figures that were published for such an optimizer.
//
// In: results of runs of one trace. Out: relative differences by the published steps, as JSON.
// Guarantees: a difference is absent where the other policy did nothing of the kind. Nothing is chosen by its result.
// Threads: pure.
// Source: docs/simulator.md ("The published funnel").
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "format/json/json.h"
#include "simulate/run.h"

namespace firn::simulate {

/// One of the published figures, and how it is measured here.
struct Step {
  std::string_view name;
  std::string_view measure;
  double published = 0;  // part that is saved
};

inline constexpr std::array<Step, 5> kPublishedSteps = {{
    {"partition scans", "reads of all entries of a partition", 0.22},
    {"merges", "jobs that rewrite files of one partition", 0.02},
    {"file replacements", "files that merges replaced", 0.72},
    {"files", "data files, mean over time", 0.80},
    {"instances", "busy workers, mean over time", 0.70},
}};

/// What `ours` saves against `other`, by step: 0.7 is 70 % less, -0.5 is half as much again.
using Savings = std::array<std::optional<double>, kPublishedSteps.size()>;
Savings Compare(const RunResult& ours, const RunResult& other);

/// What each step of one policy's own funnel leaves out: changed partitions that were not scanned, scans that led to no
/// merge, files of merged partitions that were not replaced.
struct OwnFunnel {
  std::optional<double> not_scanned, not_merged, not_replaced;
};
OwnFunnel OwnFunnelOf(const RunResult& result);

json::Value ToJson(const RunResult& result);
/// {"policies": [...], "savings": {policy: {step: part}}} of the first result against the others.
json::Value ToJson(std::span<const RunResult> results);

}  // namespace firn::simulate
