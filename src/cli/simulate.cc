// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/human_text.h"
#include "base/threads.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/simulate_text.h"
#include "cli/table_options.h"
#include "cli/text_table.h"
#include "observe/history.h"
#include "ports/file_io.h"
#include "simulate/comparison.h"
#include "simulate/plots.h"
#include "simulate/policies.h"
#include "simulate/synthetic_trace.h"
#include "simulate/table_trace.h"

namespace firn::cli {
namespace {

using simulate::RunResult;
constexpr TimestampMs kStart{1'767'225'600'000};  // 2026-01-01

struct SimulateOptions {
  CommonOptions common;
  TableRequest request;  // its table: --from-table
  std::string ref = "main";
  std::vector<std::string> workloads;
  std::vector<std::string> policies;
  std::int64_t seed = 1;
  std::optional<double> hours;
  std::optional<std::int32_t> tables;
  std::string target_file_size;
  std::int32_t workers = 16;
  double period_hours = 6;
  std::int32_t small_files = 20;
  double tolerated_entropy = 0.25;
  std::int32_t samples = 240;
  std::optional<int> threads;
  std::string plot_folder;
  bool list = false;
  bool bench = false;
};

/// A workload with what the options change in it.
Result<simulate::Workload> WorkloadOf(const std::string& name, const SimulateOptions& options) {
  FIRN_ASSIGN(simulate::Workload workload, simulate::FindWorkload(name));
  if (options.hours) workload.hours = *options.hours;
  if (options.tables) workload.tables = *options.tables;
  FIRN_ASSIGN(const auto target, ParseBytesOption("--target-file-size", options.target_file_size));
  if (target) workload.target_size_bytes = *target;
  FIRN_TRY(simulate::CheckWorkload(workload));
  return workload;
}

/// One thing that is played: its name, the tables' policy, the time, and a new trace for each run.
struct Scenario {
  std::string name, title;
  orient::Policy policy;
  TimestampMs start, end;
  std::function<std::unique_ptr<simulate::Trace>()> trace;
  std::string key;    // in the JSON
  json::Value about;  // under it
};

simulate::PolicyOptions OptionsOf(const orient::Policy& tables, TimestampMs start, const SimulateOptions& options) {
  simulate::PolicyOptions policy;
  policy.plan.policy = tables;
  policy.plan.check = !options.bench;
  policy.start = start;
  policy.period_hours = options.period_hours;
  policy.small_files = options.small_files;
  policy.tolerated_entropy = options.tolerated_entropy;
  return policy;
}

Scenario ScenarioOf(simulate::Workload workload, const SimulateOptions& options) {
  Scenario scenario;
  scenario.name = workload.name;
  scenario.title = fmt::format("{}. {:g} h, seed {}", simulate::Describe(workload), workload.hours, options.seed);
  scenario.policy.target_size_bytes = workload.target_size_bytes;
  scenario.start = kStart;
  scenario.end = TimestampMs{kStart.value + static_cast<std::int64_t>(workload.hours * 3.6e6)};
  scenario.key = "workload";
  scenario.about = simulate::ToJson(workload);
  scenario.trace = [workload = std::move(workload), seed = static_cast<std::uint64_t>(options.seed)] {
    return std::make_unique<simulate::SyntheticTrace>(workload, seed, kStart);
  };
  return scenario;
}

/// What happened to a real table.
Result<Scenario> ScenarioOfTable(Environment& environment, SimulateOptions& options) {
  SelectionOptions selection;
  selection.target_file_size = options.target_file_size;
  FIRN_TRY(ApplySettings(environment, options.common, options.request,
                         {.threads = &options.threads, .target_file_size = &selection.target_file_size}));
  FIRN_ASSIGN(const OpenedTable opened, environment.open_table(options.request));
  observe::HistoryOptions wanted{.ref = options.ref, .threads = options.threads.value_or(kReadThreads)};
  if (options.hours) {
    if (!(*options.hours > 0 && *options.hours < 1e7)) {
      return Error{Code::kInvalidArgument,
                   fmt::format("--hours: {:g} is not above 0 and below 10,000,000", *options.hours)};
    }
    wanted.length_ms = static_cast<std::int64_t>(*options.hours * 3.6e6);
  }
  FIRN_ASSIGN(const observe::History read, observe::ReadHistory(opened.table, *opened.io, wanted));
  FIRN_ASSIGN(simulate::TableHistory made, simulate::MakeTableHistory(read.start, read.changes, read.start_reason));
  const auto history = std::make_shared<const simulate::TableHistory>(std::move(made));
  Scenario scenario;
  FIRN_ASSIGN(scenario.policy, PolicyOf(*opened.table.metadata, selection));
  scenario.name = history->table;
  const double hours = static_cast<double>(history->end.value - history->start.value) / 3.6e6;
  scenario.title = fmt::format("what happened to `{}` in {:.3g} h. Target {}", history->ref, hours,
                               HumanBytes(scenario.policy.target_size_bytes));
  for (const std::string& sentence : simulate::Sentences(*history)) scenario.title += "\n  " + Printable(sentence);
  scenario.title += "\n  In all";
  scenario.start = history->start;
  scenario.end = history->end;
  scenario.key = "history";
  scenario.about = simulate::ToJson(*history);
  scenario.about.Set("target_size_bytes", scenario.policy.target_size_bytes);
  scenario.trace = [history] { return std::make_unique<simulate::HistoryTrace>(history); };
  return scenario;
}

/// Runs of different policies, a few at a time; each reads a trace of its own.
class Runs {
 public:
  Runs(const Environment& environment, const SimulateOptions& options, const Scenario& scenario)
      : environment_(environment), options_(options), scenario_(scenario), results_(options.policies.size()) {
    seconds_.resize(results_.size());
  }

  Result<std::vector<RunResult>> Finish() {
    const int wanted = options_.bench ? 1 : options_.threads.value_or(Cores());
    const auto threads = std::min(static_cast<std::size_t>(wanted), results_.size());
    std::vector<std::jthread> others;
    if (threads > 1) StartThreads(others, threads - 1, [this] { Work(); });
    Work();
    others.clear();  // joins them
    std::vector<RunResult> done;
    for (auto& result : results_) {
      FIRN_ASSIGN(RunResult one, std::move(*result));
      done.push_back(std::move(one));
    }
    return done;
  }
  const std::vector<double>& seconds() const { return seconds_; }

 private:
  static int Cores() { return static_cast<int>(std::max(1U, std::thread::hardware_concurrency())); }

  void Work() {
    for (std::size_t i = next_++; i < results_.size(); i = next_++) {
      const std::int64_t began = environment_.clock.MonotonicNs();
      results_[i] = RunOne(options_.policies[i]);
      seconds_[i] = static_cast<double>(environment_.clock.MonotonicNs() - began) / 1e9;
    }
  }

  Result<RunResult> RunOne(const std::string& name) const {
    const simulate::PolicyOptions options = OptionsOf(scenario_.policy, scenario_.start, options_);
    FIRN_ASSIGN(const auto policy, simulate::MakePolicy(name, options));
    const auto trace = scenario_.trace();
    simulate::RunOptions run;
    run.start = scenario_.start;
    run.end = scenario_.end;
    run.workers = options_.workers;
    run.samples = options_.bench ? 1 : options_.samples;
    run.healthy_size_bytes = options.plan.policy.healthy_size_bytes();
    run.check = !options_.bench;
    run.cancelled = &environment_.cancelled;
    return simulate::Run(*trace, *policy, run).In(scenario_.name + ", " + name);
  }

  const Environment& environment_;
  const SimulateOptions& options_;
  const Scenario& scenario_;
  std::atomic<std::size_t> next_ = 0;
  std::vector<std::optional<Result<RunResult>>> results_;
  std::vector<double> seconds_;
};

Status WritePlots(Environment& environment, const SimulateOptions& options, const std::string& name,
                  const std::vector<RunResult>& results) {
  if (options.plot_folder.empty()) return Ok();
  FIRN_ASSIGN(const auto io, environment.open_files(options.request));
  for (const simulate::Plot& plot : simulate::PlotsOf(name, results)) {
    const std::string location = options.plot_folder + "/" + plot.file_name;
    FIRN_TRY(io->Delete(location));  // of an earlier run
    FIRN_TRY(ports::WriteFile(*io, location, AsBytes(simulate::ToSvg(plot.chart))));
  }
  return Ok();
}

std::int64_t PeakMemoryBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

json::Value SpeedJson(const std::vector<RunResult>& results, const std::vector<double>& seconds) {
  json::Value value = json::Value::Object();
  for (std::size_t i = 0; i < results.size(); ++i) {
    json::Value line = json::Value::Object();
    line.Set("seconds", seconds[i]);
    line.Set("commits_per_second", static_cast<double>(results[i].funnel.commits) / seconds[i]);
    value.Set(results[i].policy, std::move(line));
  }
  value.Set("peak_memory_bytes", PeakMemoryBytes());
  return value;
}

std::string SpeedText(const std::vector<RunResult>& results, const std::vector<double>& seconds) {
  std::string text = "\nSpeed\n";
  for (std::size_t i = 0; i < results.size(); ++i) {
    text +=
        fmt::format("  {}: {} in {}, {} a second\n", results[i].policy, HumanCount(results[i].funnel.commits, "commit"),
                    HumanSeconds(seconds[i]),
                    HumanCount(static_cast<std::int64_t>(static_cast<double>(results[i].funnel.commits) / seconds[i])));
  }
  return text + fmt::format("  most memory of the process: {}\n", HumanBytes(PeakMemoryBytes()));
}

int ListWorkloads(Environment& environment, const SimulateOptions& options) {
  if (options.common.json) {
    json::Value value = json::Value::Array();
    for (const simulate::Workload& workload : simulate::Workloads()) value.Append(simulate::ToJson(workload));
    environment.terminal.Out(json::WritePretty(value) + "\n");
    return kExitOk;
  }
  TextTable table({{"workload"}, {"what writers do"}});
  for (const simulate::Workload& workload : simulate::Workloads()) {
    table.AddRow({workload.name, simulate::Describe(workload)});
  }
  environment.terminal.Out(table.Print());
  return kExitOk;
}

Result<int> RunSimulate(Environment& environment, SimulateOptions& options) {
  if (options.list) return ListWorkloads(environment, options);
  for (const std::string& name : options.policies) {
    FIRN_TRY(simulate::MakePolicy(name, OptionsOf({}, kStart, options)));
  }
  std::vector<Scenario> scenarios;
  if (!options.request.table.empty()) {
    FIRN_ASSIGN(scenarios.emplace_back(), ScenarioOfTable(environment, options));
  } else {
    for (const std::string& name : options.workloads) {
      FIRN_ASSIGN(simulate::Workload workload, WorkloadOf(name, options));
      scenarios.push_back(ScenarioOf(std::move(workload), options));
    }
  }
  json::Value all = json::Value::Array();
  for (const Scenario& scenario : scenarios) {
    Runs runs(environment, options, scenario);
    FIRN_ASSIGN(const std::vector<RunResult> results, runs.Finish());
    FIRN_TRY(WritePlots(environment, options, scenario.name, results));
    if (options.common.json) {
      json::Value value = simulate::ToJson(results);
      value.Set(scenario.key, scenario.about);
      if (options.request.table.empty()) value.Set("seed", options.seed);
      if (options.bench) value.Set("speed", SpeedJson(results, runs.seconds()));
      all.Append(std::move(value));
      continue;
    }
    std::string text = fmt::format("{}{}: {}, {} ingested\n\n", &scenario == &scenarios[0] ? "" : "\n",
                                   Printable(scenario.name), scenario.title, HumanBytes(results[0].bytes_ingested));
    text += SimulationText(results);
    if (options.bench) text += SpeedText(results, runs.seconds());
    environment.terminal.Out(text);
  }
  if (options.common.json) environment.terminal.Out(json::WritePretty(all) + "\n");
  return kExitOk;
}

/// --from-table, and where it is.
void AddHistoryOptions(CLI::App& command, SimulateOptions& options) {
  CLI::Option* table = command.add_option("--from-table", options.request.table,
                                          "Play what happened to this table, instead of workloads: a table of a\n"
                                          "catalog, a table's directory, or a metadata file");
  for (const char* other : {"WORKLOAD", "--seed", "--tables", "--list"}) table->excludes(command.get_option(other));
  AddPlaceOptions(command, options.request);
  command.add_option("--branch,--ref", options.ref, "Branch (or tag) whose history is played")
      ->capture_default_str()
      ->needs(table)
      ->group("Where the table is");
}

}  // namespace

void AddSimulate(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App* command =
      app.add_subcommand("simulate", "Play streams of commits against merge policies, in simulated time");
  options->workloads = {"streaming-late", "bursty", "many-small-tables", "steady-wide"};
  for (const std::string_view name : simulate::PolicyNames()) options->policies.emplace_back(name);
  command->add_option("WORKLOAD", options->workloads, "Streams of commits by name; --list shows them")
      ->capture_default_str();
  command->add_flag("--list", options->list, "Show the workloads");
  command->add_option("--policies", options->policies, "Policies to compare; the first is compared with the others")
      ->delimiter(',')
      ->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of the commits")
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command->add_option("--hours", options->hours, "Simulated hours instead of the workload's; the table's last ones");
  command->add_option("--tables", options->tables, "Tables instead of the workload's");
  command->add_option("--target-file-size", options->target_file_size, "Target size instead of theirs");
  command->add_option("--workers", options->workers, "Workers that merge at a time")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--period", options->period_hours, "Hours between the runs of `periodic`")
      ->check(CLI::Range(0.01, 10'000.0))
      ->capture_default_str();
  command->add_option("--small-files", options->small_files, "Small files that `threshold` waits for")
      ->check(CLI::Range(2, 1'000'000))
      ->capture_default_str();
  command->add_option("--entropy", options->tolerated_entropy, "Entropy above which `entropy` merges")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--samples", options->samples, "Points of each line over time")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  command->add_option("--threads", options->threads, "Policies that are played at a time; default: one a core")
      ->check(CLI::Range(1, 1024));
  command->add_option("--plot", options->plot_folder, "Folder for SVG pictures of the lines over time");
  command->add_flag("--bench", options->bench, "Measure speed: no checks on the way, one policy after another");
  AddHistoryOptions(*command, *options);
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunSimulate(context.environment, *options); });
  });
}

}  // namespace firn::cli
