// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/log.h"
#include "base/version.h"
#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/text_table.h"
#include "format/json/json.h"

namespace firn::cli {
namespace {

void ReportError(Environment& environment, bool as_json, std::string_view code, const std::string& message) {
  environment.terminal.Err("firn: " + std::string(code) + ": " + Printable(message) + "\n");
  if (!as_json || environment.terminal.out_used()) return;
  json::Value error = json::Value::Object();
  error.Set("code", code);
  error.Set("message", message);
  json::Value value = json::Value::Object();
  value.Set("error", std::move(error));
  environment.terminal.Out(json::Write(value) + "\n");
}

std::string Footer() {
  std::string text = "Exit codes:\n";
  TextTable table({{"exit"}, {"code"}, {"meaning"}});
  for (const auto& code : ExitCodes()) {
    table.AddRow({std::to_string(code.number), std::string(code.name), std::string(code.meaning)});
  }
  return text + table.Print();
}

/// A first word that is no command, as an error; CLI11 would only say that a command is missing.
Status CheckCommand(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  const std::string known = fmt::format("the commands are {}", fmt::join(names, ", "));
  if (arguments.empty()) return Error{Code::kInvalidArgument, "no command was given: " + known + " (--help says more)"};
  if (arguments[0].starts_with('-') || std::ranges::count(names, arguments[0]) > 0) return Ok();
  return Error{Code::kInvalidArgument, fmt::format("`{}` is no command: {}", arguments[0], known)};
}

int Parse(CLI::App& app, std::vector<std::string> arguments, Environment& environment, CommandContext& context) {
  const bool as_json = std::ranges::count(arguments, "--json") > 0;
  if (Status command = CheckCommand(app, arguments); !command) {
    ReportError(environment, as_json, CodeName(command.error().code), command.error().message);
    return kExitUsage;
  }
  // CLI11 takes them from the back.
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(arguments);
  } catch (const CLI::Success& wish) {  // --help, --version
    std::ostringstream out, err;
    app.exit(wish, out, err);
    environment.terminal.Out(out.str());
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    ReportError(environment, as_json, CodeName(Code::kInvalidArgument),
                std::string(error.what()) + " (--help shows what there is)");
    return kExitUsage;
  }
  return context.exit_number;
}

}  // namespace

void AddCommonOptions(CLI::App& command, CommonOptions& options) {
  command.footer("");  // not the table of exit codes again
  command.add_flag("--json", options.json, "Write the result as JSON")->group("Output");
  command.add_flag("--quiet,-q", options.quiet, "No progress, only the result and errors")->group("Output");
  command.add_flag("--verbose,-v", options.verbosity, "Say more; twice: everything")->group("Output");
}

void RunCommand(CommandContext& context, const CommonOptions& options, const std::function<Result<int>()>& run) {
  if (options.verbosity == 1) SetLogLevel(LogLevel::kInfo);
  if (options.verbosity >= 2) SetLogLevel(LogLevel::kDebug);
  if (options.quiet) SetLogLevel(LogLevel::kError);
  auto result = context.environment.cancelled.load()
                    ? Result<int>(Error{Code::kCancelled, "stopped before the work began"})
                    : run();
  if (result) {
    context.exit_number = *result;
    return;
  }
  context.exit_number = ExitNumber(result.error().code);
  ReportError(context.environment, options.json, CodeName(result.error().code), result.error().message);
}

int RunCommandLine(std::vector<std::string> arguments, Environment& environment) {
  CommandContext context{environment};
  CLI::App app(
      "firn keeps Apache Iceberg tables in shape: it finds small files, merges the ones that are worth it, and\n"
      "says why it leaves the others.",
      "firn");
  app.set_version_flag("--version", std::string("firn ") + kVersion);
  app.require_subcommand(1);
  app.footer(Footer());
  AddHealth(app, context);
  AddPlan(app, context);
  AddAnalyze(app, context);
  AddOptimize(app, context);
  AddRewriteDeletes(app, context);
  AddInspect(app, context);
  AddTables(app, context);
  AddSimulate(app, context);
  AddSplice(app, context);
  AddServe(app, context);
  AddExplain(app, context);
  AddRequest(app, context);
  const int exit_number = Parse(app, std::move(arguments), environment, context);
  const std::string failure = environment.terminal.out_failure();
  if (failure.empty() || !context.answers) return exit_number;
  ReportError(environment, false, CodeName(Code::kUnavailable),
              "standard output: " + failure + ": not all of the result could be written");
  return exit_number == kExitOk ? ExitNumber(Code::kUnavailable) : exit_number;
}

}  // namespace firn::cli
