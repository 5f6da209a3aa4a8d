// SPDX-License-Identifier: Apache-2.0
#include "cli/work_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>
#include <utility>

#include "base/human_text.h"
#include "cli/exit_codes.h"
#include "cli/table_options.h"
#include "decide/decide.h"

namespace firn::cli {

int DefaultThreads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

Result<std::int64_t> MemoryOf(const std::string& text, const char* fallback, std::int64_t bytes_min) {
  FIRN_ASSIGN(const auto memory, ParseBytesOption("--memory", text.empty() ? fallback : text));
  if (*memory >= bytes_min) return *memory;
  return Error{Code::kInvalidArgument, fmt::format("--memory: at least {} are needed", HumanBytes(bytes_min))};
}

void AddPinOption(CLI::App& command, std::string& pin) {
  command
      .add_option("--pin", pin,
                  "always, never or auto (when long work is predicted): keep the plan's snapshot from expiry by a tag\n"
                  "until the last commit; otherwise the table's property, or auto")
      ->check(CLI::IsMember({"always", "never", "auto"}))
      ->group("Limits");
}

act::PinMode PinModeOf(const std::string& pin, const orient::Policy& policy) {
  return act::ParsePinMode(pin.empty() ? policy.pin_plan_snapshot : pin).value_or(act::PinMode::kAuto);
}

int ShowPlanOnly(Environment& environment, const CommonOptions& common, PlanResult result) {
  if (common.json) {
    json::Value value = json::Value::Object();
    value.Set("dry_run", result.is_dry_run);
    value.Set("plan", std::move(result.plan));
    environment.terminal.Out(json::WritePretty(value) + "\n");
  } else {
    environment.terminal.Out(result.text);
    if (result.is_dry_run) environment.terminal.Out("\nDry run: nothing was written.\n");
  }
  for (const decide::Refusal& refusal : result.refusals) {
    if (refusal.code == decide::kCodeDisabled) return ExitNumber(Code::kUnsupported);
  }
  return kExitOk;
}

}  // namespace firn::cli
