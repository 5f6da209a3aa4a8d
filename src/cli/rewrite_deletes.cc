// SPDX-License-Identifier: Apache-2.0
#include "service/rewrite_deletes.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "act/outcome_json.h"
#include "base/human_text.h"
#include "cli/commands.h"
#include "cli/delete_text.h"
#include "cli/exit_codes.h"
#include "cli/next_step.h"
#include "cli/outcome_text.h"
#include "cli/progress.h"
#include "cli/table_options.h"
#include "cli/text_table.h"
#include "cli/work_options.h"
#include "decide/decide.h"
#include "decide/delete_plan_json.h"
#include "service/delete_options.h"

namespace firn::cli {
namespace {

constexpr const char* kMemory = "1GB";

struct RewriteDeletesOptions {
  CommonOptions common;
  TableOptions table;
  SelectionOptions selection;
  std::vector<std::string> only;
  std::string memory, pin;
  std::optional<int> threads, format_version;
  bool dry_run = false;
};

Result<decide::DeleteRewriteOptions> PlanOptionsOf(const RewriteDeletesOptions& options, const orient::Policy& policy,
                                                   const iceberg::TableMetadata& metadata,
                                                   const decide::PartitionSelection& selection) {
  FIRN_ASSIGN(decide::DeleteRewriteOptions plan, service::DeleteRewriteOptionsOf(metadata, policy));
  const auto is_wanted = [&](std::string_view word) {
    return options.only.empty() || std::ranges::find(options.only, word) != options.only.end();
  };
  plan.equality = is_wanted("equality");
  plan.positions = is_wanted("positions");
  plan.dangling = is_wanted("dangling");
  FIRN_ASSIGN(const auto target, ParseBytesOption("--target-file-size", options.selection.target_file_size));
  if (target) plan.target_size_bytes = *target;
  if (plan.target_size_bytes <= 0) {
    return Error{Code::kInvalidArgument, "--target-file-size is not a number of bytes above 0"};
  }
  plan.selection = &selection;
  return plan;
}

Result<service::RewriteDeletesOptions> MakeOptions(const RewriteDeletesOptions& options,
                                                   const iceberg::TableMetadata& metadata,
                                                   const decide::PartitionSelection& selection) {
  service::RewriteDeletesOptions made;
  made.ref = options.table.ref;
  made.format_version = options.format_version;
  SelectionOptions own = options.selection;
  own.target_file_size.clear();  // it is about delete files here
  FIRN_ASSIGN(const orient::Policy policy, PolicyOf(metadata, own));
  FIRN_ASSIGN(made.plan, PlanOptionsOf(options, policy, metadata, selection));
  made.rewrite.pin = PinModeOf(options.pin, policy);
  made.rewrite.threads = options.threads.value_or(DefaultThreads());
  FIRN_ASSIGN(made.rewrite.memory_bytes, MemoryOf(options.memory, kMemory, act::kRewriteDeletesMemoryMin));
  return made;
}

std::size_t Lines(const RewriteDeletesOptions& options) { return options.common.verbosity > 0 ? SIZE_MAX : 10; }

int ShowPlanOnly(Environment& environment, const RewriteDeletesOptions& options, const std::string& head,
                 const service::DeleteAssessment& found) {
  return ShowPlanOnly(
      environment, options.common,
      {decide::ToJson(found.plan, found.facts), head + DeletePlanText(found.facts, found.plan, Lines(options)),
       found.plan.refusals, options.dry_run});
}

int ShowOutcome(Environment& environment, const RewriteDeletesOptions& options,
                const service::RewrittenDeletes& result) {
  if (options.common.json) {
    json::Value value = json::Value::Object();
    value.Set("plan", decide::ToJson(result.first.plan, result.first.facts));
    value.Set("rounds", result.rounds);
    value.Set("upgraded", result.is_upgraded);
    value.Set("outcome", act::ToJson(result.outcome));
    environment.terminal.Out(json::WritePretty(value) + "\n");
  } else {
    environment.terminal.Out(DeleteOutcomeText(result.outcome, TableWords(options.table)));
  }
  return ExitOf(result.outcome.failures, result.outcome.snapshot_id.has_value());
}

Result<int> RunRewriteDeletes(Environment& environment, RewriteDeletesOptions& options) {
  FIRN_TRY(ApplySettings(environment, options.common, options.table.request, {&options.threads, &options.memory}));
  FIRN_ASSIGN(const OpenedTable opened, environment.open_table(options.table.request));
  FIRN_ASSIGN(const auto selection, SelectionOf(opened.table.metadata, options.selection));
  FIRN_ASSIGN(auto rewrite, MakeOptions(options, *opened.table.metadata, selection));
  if (options.dry_run) {
    rewrite.plan.plan_id = environment.random.NewUuidV7(environment.clock.Now());
    FIRN_ASSIGN(const auto found, service::AssessDeletes(opened.table, *opened.io, rewrite));
    const std::string read_only = ReadOnlyLine(WhyReadOnly(opened, options.table.ref));
    return ShowPlanOnly(environment, options, read_only, found);
  }
  act::CommitEnvironment commit{*opened.catalog,        *opened.io,           environment.clock, environment.random, {},
                                &environment.cancelled, environment.processes};
  Progress progress(environment.terminal, environment.clock,
                    {.title = "reading deletes", .silent = options.common.quiet});
  rewrite.planned = [&](int round, const service::DeleteAssessment& found) {
    if (round > 1) progress.Note("Others committed in the meantime: planned again.");
    if (!found.plan.deletes.empty()) progress.Note(found.plan.reason);
  };
  rewrite.rewrite.progress = [&progress](std::int64_t done, std::int64_t total) { progress.Update(done, total); };
  FIRN_ASSIGN(const auto result, service::RewriteDeletes(commit, opened.table.id, rewrite));
  progress.Finish();
  if (result.is_upgraded) progress.Note("The table has format version 3 now.");
  if (result.rounds == 0 && !HasTidied(result.outcome)) return ShowPlanOnly(environment, options, "", result.first);
  return ShowOutcome(environment, options, result);
}

}  // namespace

void AddRewriteDeletes(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RewriteDeletesOptions>();
  CLI::App* command =
      app.add_subcommand("rewrite-deletes", "Convert equality deletes, merge position deletes, drop dangling ones");
  AddTableOptions(*command, options->table);
  AddPartitionOptions(*command, options->selection);
  command->add_flag("--dry-run", options->dry_run, "Only show the plan, write nothing");
  command
      ->add_option("--only", options->only,
                   "Only these, of: equality (to positions, or to deletion vectors in v3, together with the position\n"
                   "deletes of the same data files), positions (many files to few, or to deletion vectors), dangling\n"
                   "(deletes of nothing); separated by commas")
      ->delimiter(',')
      ->check(CLI::IsMember({"equality", "positions", "dangling"}))
      ->allow_extra_args(false);
  command
      ->add_option(
          "--format-version", options->format_version,
          "3: raise the table from format version 2 first, so that what is rewritten becomes deletion vectors.\n"
          "Older readers and writers cannot use it then")
      ->check([](const std::string& text) { return text == "3" ? "" : "only 3 is known, not " + Printable(text); });
  command
      ->add_option("--target-file-size", options->selection.target_file_size,
                   "Wanted size of position delete files; otherwise the table's property, or 64MB")
      ->group("Limits");
  command
      ->add_option("--min-input-files", options->selection.min_input_files,
                   "Fewest small position delete files of a partition that are merged; otherwise the table's\n"
                   "property, or 5")
      ->group("Limits");
  command->add_option("--threads", options->threads, "Threads that read")
      ->check(CLI::Range(1, 1024))
      ->default_str(std::to_string(DefaultThreads()))
      ->group("Limits");
  command->add_option("--memory", options->memory, "Memory of the process, at least 128MB")
      ->default_str(kMemory)
      ->group("Limits");
  AddPinOption(*command, options->pin);
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunRewriteDeletes(context.environment, *options); });
  });
}

}  // namespace firn::cli
