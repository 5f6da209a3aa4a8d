// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/next_step.h"
#include "cli/plan_text.h"
#include "cli/table_options.h"
#include "decide/plan_json.h"
#include "service/assess.h"

namespace firn::cli {
namespace {

struct PlanOptions {
  CommonOptions common;
  TableOptions table;
  SelectionOptions selection;
  std::string max_bytes;
  std::size_t lines = 20;
  std::optional<int> threads;
};

Result<int> RunPlan(Environment& environment, PlanOptions& options) {
  const std::string words = SelectedWords(options.table, options.selection) + MaxBytesWords(options.max_bytes);
  FIRN_TRY(ApplySettings(environment, options.common, options.table.request,
                         {.threads = &options.threads, .target_file_size = &options.selection.target_file_size}));
  FIRN_ASSIGN(const OpenedTable opened, environment.open_table(options.table.request));
  FIRN_ASSIGN(const auto selection, SelectionOf(opened.table.metadata, options.selection));
  service::AssessOptions assess;
  assess.ref = options.table.ref;
  assess.selection = &selection;
  assess.threads = options.threads.value_or(kReadThreads);
  assess.plan_id = environment.random.NewUuidV7(environment.clock.Now());
  FIRN_ASSIGN(assess.policy, PolicyOf(*opened.table.metadata, options.selection));
  FIRN_ASSIGN(assess.max_bytes, ParseBytesOption("--max-bytes", options.max_bytes));
  FIRN_ASSIGN(const auto found, service::Assess(opened.table, *opened.io, assess, environment.clock.Now()));
  if (options.common.json) {
    environment.terminal.Out(json::WritePretty(decide::ToJson(found.plan, found.facts)) + "\n");
    return kExitOk;
  }
  const std::string read_only = ReadOnlyLine(WhyReadOnly(opened, options.table.ref));
  std::string text = SelectionLine(selection, found.facts, TableWords(options.table)) + read_only +
                     PlanText(found.facts, found.plan, options.common.verbosity > 0 ? SIZE_MAX : options.lines);
  if (!found.plan.groups.empty() && read_only.empty())
    text += fmt::format("\nNext: `firn optimize {}` does it.\n", words);
  environment.terminal.Out(text);
  return kExitOk;
}

}  // namespace

void AddPlan(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* command = app.add_subcommand("plan", "What optimize would do, what it takes, and why not more");
  AddTableOptions(*command, options->table);
  AddSelectionOptions(*command, options->selection);
  command->add_option("--max-bytes", options->max_bytes, "Plan to read at most so much, such as 10GB, best first");
  command->add_option("--lines", options->lines, "How many lines each list may have")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  AddReadThreadsOption(*command, options->threads);
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunPlan(context.environment, *options); });
  });
}

}  // namespace firn::cli
