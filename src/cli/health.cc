// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/health_text.h"
#include "cli/merge_outlook.h"
#include "cli/next_step.h"
#include "cli/table_options.h"
#include "observe/facts_json.h"
#include "orient/diagnosis_json.h"
#include "service/assess.h"

namespace firn::cli {
namespace {

struct HealthOptions {
  CommonOptions common;
  TableOptions table;
  SelectionOptions selection;
  std::size_t partitions = 10;
  std::optional<int> threads;
};

Result<int> RunHealth(Environment& environment, HealthOptions& options) {
  const std::string words = SelectedWords(options.table, options.selection);
  FIRN_TRY(ApplySettings(environment, options.common, options.table.request,
                         {.threads = &options.threads, .target_file_size = &options.selection.target_file_size}));
  FIRN_ASSIGN(const OpenedTable opened, environment.open_table(options.table.request));
  FIRN_ASSIGN(const auto selection, SelectionOf(opened.table.metadata, options.selection));
  service::AssessOptions assess;
  assess.ref = options.table.ref;
  assess.selection = &selection;
  assess.threads = options.threads.value_or(kReadThreads);
  FIRN_ASSIGN(assess.policy, PolicyOf(*opened.table.metadata, options.selection));
  FIRN_ASSIGN(auto found, service::Diagnose(opened.table, *opened.io, assess, environment.clock.Now()));
  FIRN_TRY(service::MakePlan(opened.table, *opened.io, assess, found));
  const std::string read_only = WhyReadOnly(opened, options.table.ref);
  const std::size_t shown = options.common.verbosity > 0 ? found.diagnosis.partitions.size() : options.partitions;
  if (options.common.json) {
    json::Value value = json::Value::Object();
    value.Set("facts", observe::SummaryToJson(found.facts));
    value.Set("diagnosis", orient::ToJson(found.diagnosis, found.facts, shown));
    value.Set("merge", MergeOutlookToJson(found.plan));
    value.Set("read_only", read_only.empty() ? json::Value() : json::Value(read_only));
    environment.terminal.Out(json::WritePretty(value) + "\n");
  } else {
    environment.terminal.Out(SelectionLine(selection, found.facts, TableWords(options.table)) +
                             ReadOnlyLine(read_only) + HealthText(found, words, shown));
  }
  return kExitOk;
}

}  // namespace

void AddHealth(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<HealthOptions>();
  CLI::App* command = app.add_subcommand("health", "What is wrong with a table: score, figures, worst partitions");
  AddTableOptions(*command, options->table);
  AddSelectionOptions(*command, options->selection);
  command->add_option("--partitions", options->partitions, "How many of the worst partitions to show")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  AddReadThreadsOption(*command, options->threads);
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunHealth(context.environment, *options); });
  });
}

}  // namespace firn::cli
