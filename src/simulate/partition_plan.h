// SPDX-License-Identifier: Apache-2.0
//
// Looks at one partition of the simulated tables as orient and decide do at a real one, and plans its merges with them.
//
// In: the world, a partition. Out: its Facts; the job that a Plan of decide asks for.
// Guarantees: the plan is that of the production code, unchanged; CheckPlan holds it against what decide promises.
// Cost: O(files of the partition log files). Threads: pure.
// Errors: kInternal from CheckPlan, with the partition and the promise that is broken.
// Source: docs/packing.md ("What is promised").
#pragma once

#include <cstdint>

#include "base/result.h"
#include "decide/decide.h"
#include "observe/facts.h"
#include "orient/policy.h"
#include "simulate/world.h"

namespace firn::simulate {

/// Facts of a table that has this partition alone. File i is file i of the partition.
observe::Facts FactsOf(const World& world, std::uint32_t table, std::uint32_t partition);

/// The plan's groups as a job. `facts` are those that it was made from.
Job JobOf(const World& world, std::uint32_t table, std::uint32_t partition, const observe::Facts& facts,
          const decide::Plan& plan);

/// No file in two groups, no more outputs than inputs, and nothing left to do after the plan has been applied.
Status CheckPlan(const observe::Facts& facts, const decide::Plan& plan, const orient::Policy& policy,
                 const decide::DecideOptions& options);

struct PlanSettings {
  orient::Policy policy;
  decide::CostModel cost;
  bool check = true;  // every plan, by CheckPlan
};

/// All of that: the job that orient and decide ask for, without merges if they find nothing to do.
Result<Job> PlanPartition(const World& world, std::uint32_t table, std::uint32_t partition,
                          const PlanSettings& settings);

}  // namespace firn::simulate
