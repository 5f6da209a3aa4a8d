// SPDX-License-Identifier: Apache-2.0
//
// Looks at the deletes of one partition of the simulated tables as decide does at those of a real one.
//
// In: the world, a partition. Out: its DeleteFacts; the job that a DeletePlan of decide asks for.
// Guarantees: the plan is that of the production code, unchanged.
// Cost: O(files + deletes of the partition). Threads: pure.
// Source: docs/simulator.md.
#pragma once

#include <cstdint>

#include "decide/delete_rewrite.h"
#include "observe/delete_facts.h"
#include "simulate/world.h"

namespace firn::simulate {

/// Delete facts of a table that has this partition alone. Targets are its files with deletes, by id.
observe::DeleteFacts DeleteFactsOf(const World& world, std::uint32_t table, std::uint32_t partition);

/// The plan as a job; without targets if it converts nothing. `facts` are those that it was made from.
Job ConversionOf(const World& world, std::uint32_t table, std::uint32_t partition, const observe::DeleteFacts& facts,
                 const decide::DeletePlan& plan);

}  // namespace firn::simulate
