// SPDX-License-Identifier: Apache-2.0
//
// The results of a simulation for people.
//
// Guarantees: every figure is in the JSON as well. Threads: pure.
#pragma once

#include <span>
#include <string>

#include "simulate/run.h"

namespace firn::cli {

/// Tables: policies, funnel, effect and cost, and the first policy against the others beside the published figures.
std::string SimulationText(std::span<const simulate::RunResult> results);

}  // namespace firn::cli
