// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "act/property_change.h"
#include "base/human_text.h"
#include "cli/analysis_text.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/next_step.h"
#include "cli/progress.h"
#include "cli/table_options.h"
#include "cli/text_table.h"
#include "ports/thread_time.h"
#include "service/analysis_json.h"
#include "service/earlier_work.h"

namespace firn::cli {
namespace {

constexpr const char* kSampleBytes = "64MB";
constexpr std::int64_t kSampleBytesMin = 1 << 20;

struct AnalyzeOptions {
  CommonOptions common;
  TableOptions table;
  SelectionOptions selection;
  std::string sample_bytes, scratch;
  int repeats = 3;
  std::uint64_t seed = 1;
  bool no_measure = false;
  bool apply = false;
  std::optional<double> request_ms, reads_a_day;
  std::string state;
  std::size_t lines = 10;
  std::optional<int> threads;
};

Result<service::AnalyzeOptions> ServiceOptions(Environment& environment, const AnalyzeOptions& options,
                                               const iceberg::TableMetadata& metadata) {
  service::AnalyzeOptions made;
  made.assess.ref = options.table.ref;
  made.assess.threads = options.threads.value_or(kReadThreads);
  FIRN_ASSIGN(made.assess.policy, PolicyOf(metadata, options.selection));
  FIRN_ASSIGN(const auto bytes,
              ParseBytesOption("--sample-bytes", options.sample_bytes.empty() ? kSampleBytes : options.sample_bytes));
  if (*bytes < kSampleBytesMin) {
    return Error{Code::kInvalidArgument,
                 fmt::format("--sample-bytes: at least {} are needed", HumanBytes(kSampleBytesMin))};
  }
  // A range lets NaN pass.
  if (options.request_ms && !std::isfinite(*options.request_ms)) {
    return Error{Code::kInvalidArgument, "--request-ms: it is no number"};
  }
  made.sample.bytes_max = *bytes;
  made.sample.scratch = options.scratch;
  made.sample.repeats = options.repeats;
  made.sample.seed = options.seed;
  made.sample.clock = &environment.clock;
  made.sample.thread_cpu_ns = ports::ThreadCpuNs;
  made.sample.cancelled = &environment.cancelled;
  made.measure = !options.no_measure;
  if (options.request_ms) made.request_seconds = *options.request_ms / 1e3;
  if (options.reads_a_day && !std::isfinite(*options.reads_a_day)) {
    return Error{Code::kInvalidArgument, "--reads-a-day: it is no number"};
  }
  made.reads_a_day = options.reads_a_day;
  if (options.state.empty()) return made;
  FIRN_ASSIGN(const auto store, service::StateStore::OpenToRead(options.state));
  FIRN_ASSIGN(const std::string id,
              service::TableIdOfUuid(*store, metadata.table_uuid()).In("--state " + options.state));
  FIRN_ASSIGN(made.earlier, service::EarlierWorkOf(*store, id, environment.clock.Now()));
  return made;
}

constexpr const char* kTargetKeys[] = {"write.target-file-size-bytes", "firn.target-file-size-bytes"};

/// What has to be set for the advice to count: the size that writers keep, and firn's own where the table has it, for
/// it goes before the other. Those that are so already are left out.
std::vector<act::PropertyChange> ChangesOf(const service::Analysis& analysis, const iceberg::TableMetadata& metadata) {
  std::vector<act::PropertyChange> changes;
  if (!analysis.advice.change_target) return changes;
  const std::string size = std::to_string(analysis.advice.target_size_bytes);
  for (const char* key : kTargetKeys) {
    const auto found = metadata.properties().find(key);
    const bool is_set = found != metadata.properties().end();
    if (is_set ? found->second != size : key == kTargetKeys[0]) {
      changes.push_back({key, is_set ? std::optional(found->second) : std::nullopt, size});
    }
  }
  return changes;
}

Status CheckApply(const AnalyzeOptions& options) {
  const SelectionOptions& selection = options.selection;
  const bool is_whole = selection.where.empty() && selection.partitions.empty();
  if (!options.apply || (is_whole && selection.target_file_size.empty() && !selection.min_input_files)) return Ok();
  return Error{Code::kInvalidArgument,
               "--apply goes by the whole table and its own properties: without --where, "
               "--partition, --target-file-size and --min-input-files"};
}

Status Apply(Environment& environment, const OpenedTable& opened, const std::vector<act::PropertyChange>& changes) {
  if (changes.empty()) return Ok();
  act::CommitEnvironment commit{*opened.catalog,    *opened.io, environment.clock,
                                environment.random, {},         &environment.cancelled};
  const act::CommitTarget target{opened.table.id, opened.table.metadata->table_uuid(), "main"};
  return act::SetTableProperties(commit, target, changes).status;
}

std::string AppliedText(const std::vector<act::PropertyChange>& changes) {
  if (changes.empty()) return "\nNothing to apply: the target file size stays.\n";
  std::string text = "\nApplied to the table:\n";
  for (const auto& change : changes) {
    text += fmt::format("  {} is {} now ({})\n", change.key, change.after,
                        change.before ? "it was " + Printable(*change.before) : "it was not set");
  }
  return text;
}

json::Value AppliedJson(const std::vector<act::PropertyChange>& changes) {
  json::Value list = json::Value::Array();
  for (const auto& change : changes) {
    json::Value value = json::Value::Object();
    value.Set("property", change.key);
    value.Set("before", change.before ? json::Value(*change.before) : json::Value());
    value.Set("after", change.after);
    list.Append(std::move(value));
  }
  return list;
}

Result<int> RunAnalyze(Environment& environment, AnalyzeOptions& options) {
  SelectionOptions given = options.selection;
  FIRN_TRY(ApplySettings(environment, options.common, options.table.request,
                         {.threads = &options.threads, .target_file_size = &options.selection.target_file_size}));
  FIRN_TRY(CheckApply(options));
  FIRN_ASSIGN(const OpenedTable opened, environment.open_table(options.table.request));
  FIRN_ASSIGN(const auto selection, SelectionOf(opened.table.metadata, options.selection));
  FIRN_ASSIGN(service::AnalyzeOptions made, ServiceOptions(environment, options, *opened.table.metadata));
  made.assess.selection = &selection;
  Progress progress(environment.terminal, environment.clock, {.title = "measuring", .silent = options.common.quiet});
  // Of a unit that the bar can show: steps are far apart.
  made.sample.progress = [&](std::int64_t done, std::int64_t total) {
    progress.Update(made.sample.bytes_max / total * done, made.sample.bytes_max);
  };
  FIRN_ASSIGN(const service::Analysis analysis,
              service::Analyze(opened.table, *opened.io, made, environment.clock.Now()));
  progress.Finish();
  // The recommended size becomes the table's own.
  if (analysis.advice.change_target) given.target_file_size.clear();
  const AnalysisSteps steps{SelectedWords(options.table, given), ChangesOf(analysis, *opened.table.metadata),
                            WhyReadOnly(opened, options.table.ref), options.apply};
  // Shown also if that fails: it has taken its time.
  const Status applied = options.apply ? Apply(environment, opened, steps.changes) : Ok();
  if (options.common.json) {
    FIRN_TRY(applied);
    json::Value value = service::ToJson(analysis);
    if (options.apply) value.Set("applied", AppliedJson(steps.changes));
    environment.terminal.Out(json::WritePretty(value) + "\n");
    return kExitOk;
  }
  environment.terminal.Out(SelectionLine(selection, analysis.facts, TableWords(options.table)) +
                           AnalysisText(analysis, steps, options.common.verbosity > 0 ? SIZE_MAX : options.lines));
  FIRN_TRY(applied);
  if (options.apply) environment.terminal.Out(AppliedText(steps.changes));
  return kExitOk;
}

}  // namespace

void AddAnalyze(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<AnalyzeOptions>();
  CLI::App* command = app.add_subcommand(
      "analyze", "Whether merging, another target file size or sorting would pay, by experiment on a sample");
  AddTableOptions(*command, options->table);
  AddSelectionOptions(*command, options->selection);
  command->add_option("--sample-bytes", options->sample_bytes, "Most bytes of data files that are copied and merged")
      ->default_str(kSampleBytes);
  command->add_option("--scratch", options->scratch,
                      "Existing local folder for the experiment; otherwise the system's for temporary files");
  command->add_option("--repeats", options->repeats, "How often each size is read; the least time counts")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Chooses the sample")->capture_default_str();
  command->add_flag("--no-measure", options->no_measure, "No experiment: firn's own constants");
  command
      ->add_option("--request-ms", options->request_ms,
                   "What a request of the storage takes; otherwise 30 ms, and 0 for local files")
      ->check(CLI::Range(0.0, 60'000.0));
  command->add_option("--state", options->state,
                      "State file of the service: what its merges of the table have cost, how often it is read");
  command
      ->add_option("--reads-a-day", options->reads_a_day,
                   "How often the whole table is read; otherwise as readers report, or 24 where merges are known")
      ->check(CLI::Range(0.0, 1e9));
  command->add_flag(
      "--apply", options->apply,
      "Set the table's write.target-file-size-bytes (and firn.target-file-size-bytes, if it is set) to the\n"
      "recommended size, if another one is recommended");
  command->add_option("--lines", options->lines, "How many columns are shown")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  AddReadThreadsOption(*command, options->threads);
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunAnalyze(context.environment, *options); });
  });
}

}  // namespace firn::cli
