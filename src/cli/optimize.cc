// SPDX-License-Identifier: Apache-2.0
#include "service/optimize.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include "act/outcome_json.h"
#include "base/human_text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/next_step.h"
#include "cli/outcome_text.h"
#include "cli/plan_text.h"
#include "cli/progress.h"
#include "cli/table_options.h"
#include "cli/work_options.h"
#include "decide/plan_json.h"

namespace firn::cli {
namespace {

constexpr const char* kMemory = "1GB";
constexpr std::int64_t kWatchIntervalMs = 10'000;
constexpr std::int64_t kReadBytes = 32 << 20;

struct OptimizeOptions {
  CommonOptions common;
  TableOptions table;
  SelectionOptions selection;
  std::string max_bytes, memory, effort, pin;
  int max_commits = 10;
  std::optional<int> threads;
  bool dry_run = false;
};

Result<service::OptimizeOptions> MakeOptions(const OptimizeOptions& options, const iceberg::TableMetadata& metadata,
                                             const decide::PartitionSelection& selection) {
  service::OptimizeOptions made;
  made.assess.ref = options.table.ref;
  made.assess.selection = &selection;
  made.assess.threads = options.threads.value_or(DefaultThreads());
  FIRN_ASSIGN(made.assess.policy, PolicyOf(metadata, options.selection));
  FIRN_ASSIGN(made.assess.max_bytes, ParseBytesOption("--max-bytes", options.max_bytes));
  made.rewrite.threads = made.assess.threads;
  made.rewrite.pin = PinModeOf(options.pin, made.assess.policy);
  made.rewrite.watch_interval_ms = kWatchIntervalMs;
  made.rewrite.max_commits = options.max_commits;
  made.rewrite.effort = options.effort.empty() ? made.assess.policy.effort : options.effort;
  FIRN_ASSIGN(made.rewrite.memory_bytes, MemoryOf(options.memory, kMemory, act::kRewriteMemoryMin));
  // Each thread that reads manifests holds a block of one.
  made.assess.threads =
      static_cast<int>(std::clamp<std::int64_t>(made.rewrite.memory_bytes / kReadBytes, 1, made.assess.threads));
  return made;
}

std::size_t Lines(const OptimizeOptions& options) { return options.common.verbosity > 0 ? SIZE_MAX : 10; }

int ShowPlanOnly(Environment& environment, const OptimizeOptions& options, const std::string& head,
                 const service::Assessment& found) {
  return ShowPlanOnly(environment, options.common,
                      {decide::ToJson(found.plan, found.facts),
                       head + PlanText(found.facts, found.plan, Lines(options)), found.plan.refusals, options.dry_run});
}

int ShowOutcome(Environment& environment, const OptimizeOptions& options, const std::string& selected_words,
                const service::Optimized& result) {
  if (options.common.json) {
    json::Value value = json::Value::Object();
    value.Set("plan", decide::ToJson(result.first.plan, result.first.facts));
    value.Set("rounds", result.rounds);
    value.Set("outcome", act::ToJson(result.outcome));
    environment.terminal.Out(json::WritePretty(value) + "\n");
  } else {
    environment.terminal.Out(OutcomeText(result.outcome, {TableWords(options.table), selected_words}, Lines(options)));
  }
  return ExitOf(result.outcome);
}

/// Tells people on standard error what is about to happen, and how far it is.
void AddReports(const OptimizeOptions& options, Progress& progress, service::OptimizeOptions& optimize) {
  optimize.planned = [&](int round, const service::Assessment& found) {
    if (round > 1) progress.Note("Planned again on the table as it is now.");
    if (!found.plan.groups.empty()) progress.Note(found.plan.reason);
  };
  auto commits = std::make_shared<std::int64_t>(0);
  optimize.rewrite.progress = [&options, &progress, commits](const act::RewriteProgress& now) {
    progress.Update(now.bytes_done, now.bytes_total);
    if (now.commits_done > *commits && options.common.verbosity > 0) {
      progress.Note(fmt::format("Commit {} of {}: {} of {} done", now.commits_done, now.commits_total,
                                HumanCount(now.groups_done), HumanCount(now.groups_total, "group")));
    }
    *commits = now.commits_done;
  };
}

Result<int> RunOptimize(Environment& environment, OptimizeOptions& options) {
  const std::string words = SelectedWords(options.table, options.selection);
  FIRN_TRY(ApplySettings(environment, options.common, options.table.request,
                         {&options.threads, &options.memory, &options.selection.target_file_size}));
  FIRN_ASSIGN(const OpenedTable opened, environment.open_table(options.table.request));
  FIRN_ASSIGN(const auto selection, SelectionOf(opened.table.metadata, options.selection));
  FIRN_ASSIGN(auto optimize, MakeOptions(options, *opened.table.metadata, selection));
  if (options.dry_run) {
    optimize.assess.plan_id = environment.random.NewUuidV7(environment.clock.Now());
    FIRN_ASSIGN(const auto found, service::Assess(opened.table, *opened.io, optimize.assess, environment.clock.Now()));
    const std::string read_only = ReadOnlyLine(WhyReadOnly(opened, options.table.ref));
    return ShowPlanOnly(environment, options,
                        SelectionLine(selection, found.facts, TableWords(options.table)) + read_only, found);
  }
  act::CommitEnvironment commit{*opened.catalog,        *opened.io,           environment.clock, environment.random, {},
                                &environment.cancelled, environment.processes};
  Progress progress(environment.terminal, environment.clock, {.title = "merging", .silent = options.common.quiet});
  AddReports(options, progress, optimize);
  FIRN_ASSIGN(const auto result, service::Optimize(commit, opened.table.id, optimize));
  progress.Finish();
  if (result.rounds == 0 && !HasTidied(result.outcome)) {
    return ShowPlanOnly(environment, options, SelectionLine(selection, result.first.facts, TableWords(options.table)),
                        result.first);
  }
  return ShowOutcome(environment, options, words, result);
}

}  // namespace

void AddOptimize(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<OptimizeOptions>();
  CLI::App* command = app.add_subcommand("optimize", "Merge small files and fold deletes where it is worth it");
  AddTableOptions(*command, options->table);
  AddSelectionOptions(*command, options->selection);
  command->add_flag("--dry-run", options->dry_run, "Only show the plan, write nothing");
  command->add_option("--max-bytes", options->max_bytes, "Read at most so much, such as 10GB, best first")
      ->group("Limits");
  command->add_option("--max-commits", options->max_commits, "Most commits; a short plan is one commit")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str()
      ->group("Limits");
  command->add_option("--threads", options->threads, "File groups merged at a time")
      ->check(CLI::Range(1, 1024))
      ->default_str(std::to_string(DefaultThreads()))
      ->group("Limits");
  command->add_option("--memory", options->memory, "Memory of the process, at least 192MB")
      ->default_str(kMemory)
      ->group("Limits");
  command
      ->add_option("--effort", options->effort,
                   "fast, balanced or dense: how much is recoded to save bytes; otherwise the table's property")
      ->check(CLI::IsMember({"fast", "balanced", "dense"}))
      ->group("Limits");
  AddPinOption(*command, options->pin);
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunOptimize(context.environment, *options); });
  });
}

}  // namespace firn::cli
