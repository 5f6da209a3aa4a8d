// SPDX-License-Identifier: Apache-2.0
//
// The commands: each adds itself to the command line, in a file of its own.
//
// Guarantees: adding commands does no work; the chosen one runs once, after its options were checked.
// Threads: one owner.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "cli/environment.h"

namespace CLI {
class App;
}

namespace firn::cli {

/// Flags that every command has.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  int verbosity = 0;
};

/// What a command's run needs besides its own options.
struct CommandContext {
  Environment& environment;
  /// Set by the command that ran.
  int exit_number = 0;
  /// Whether what it says on standard output is what it was run for.
  bool answers = true;
};

void AddHealth(CLI::App& app, CommandContext& context);
void AddPlan(CLI::App& app, CommandContext& context);
void AddAnalyze(CLI::App& app, CommandContext& context);
void AddOptimize(CLI::App& app, CommandContext& context);
void AddRewriteDeletes(CLI::App& app, CommandContext& context);
void AddSplice(CLI::App& app, CommandContext& context);
void AddInspect(CLI::App& app, CommandContext& context);
void AddTables(CLI::App& app, CommandContext& context);
void AddServe(CLI::App& app, CommandContext& context);
void AddRequest(CLI::App& app, CommandContext& context);
void AddExplain(CLI::App& app, CommandContext& context);
void AddSimulate(CLI::App& app, CommandContext& context);

void AddCommonOptions(CLI::App& command, CommonOptions& options);
/// Runs `run` and turns its error into a message and an exit number. `run` returns the exit number of a success.
void RunCommand(CommandContext& context, const CommonOptions& options, const std::function<Result<int>()>& run);

}  // namespace firn::cli
