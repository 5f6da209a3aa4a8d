// SPDX-License-Identifier: Apache-2.0
//
// What the commands that do work have in common: threads, memory, the pin of the plan's snapshot, a plan as the result.
//
// Guarantees: the same option means and says the same in each of them. Errors: kInvalidArgument naming the option.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "act/plan_pin.h"
#include "cli/commands.h"
#include "decide/plan.h"
#include "format/json/json.h"
#include "orient/policy.h"

namespace firn::cli {

/// As many as the machine has cores.
int DefaultThreads();

/// --memory in bytes; `fallback` where nothing was given.
Result<std::int64_t> MemoryOf(const std::string& text, const char* fallback, std::int64_t bytes_min);

/// --pin.
void AddPinOption(CLI::App& command, std::string& pin);
/// The option, else the table's property.
act::PinMode PinModeOf(const std::string& pin, const orient::Policy& policy);

/// What there is to show when nothing is executed: a dry run, or an empty plan.
struct PlanResult {
  json::Value plan;
  std::string text;
  const std::vector<decide::Refusal>& refusals;
  bool is_dry_run = false;
};
/// Returns the exit number.
int ShowPlanOnly(Environment& environment, const CommonOptions& common, PlanResult result);

}  // namespace firn::cli
