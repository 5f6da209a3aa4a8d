// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/inspect.h"
#include "cli/table_options.h"

namespace firn::cli {
namespace {

struct InspectOptions {
  CommonOptions common;
  TableOptions table;
  std::string subject;
  std::size_t limit = 1000;
};

Result<int> RunInspect(Environment& environment, const InspectOptions& options) {
  const auto subject = ParseSubject(options.subject);
  if (!subject) {
    return Error{
        Code::kInvalidArgument,
        "inspect lists snapshots, refs, manifests, files, partitions or statistics, not \"" + options.subject + "\""};
  }
  FIRN_TRY(ApplySettings(environment, options.common, options.table.request, {}));
  FIRN_ASSIGN(const OpenedTable opened, environment.open_table(options.table.request));
  Listing listing(environment.terminal, {.json = options.common.json, .rows_max = options.limit}, ColumnsOf(*subject));
  FIRN_TRY(Inspect(*subject, opened.table, *opened.io, options.table.ref, environment.clock.Now(), listing));
  listing.Finish();
  return kExitOk;
}

}  // namespace

void AddInspect(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App* command = app.add_subcommand("inspect", "What a table is made of");
  command->add_option("WHAT", options->subject, "snapshots, refs, manifests, files, partitions or statistics")
      ->required();
  AddTableOptions(*command, options->table);
  command->add_option("--limit", options->limit, "How many rows to show (JSON has all)")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunInspect(context.environment, *options); });
  });
}

}  // namespace firn::cli
