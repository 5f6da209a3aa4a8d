// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/listing.h"
#include "cli/table_options.h"

namespace firn::cli {
namespace {

struct TablesOptions {
  CommonOptions common;
  TableRequest request;  // no table
};

Result<int> RunTables(Environment& environment, const TablesOptions& options) {
  FIRN_TRY(ApplySettings(environment, options.common, options.request, {}));
  FIRN_ASSIGN(const auto catalog, environment.open_catalog(options.request));
  FIRN_ASSIGN(const auto tables, catalog->ListTables());
  std::vector<std::string> names;
  for (const ports::TableIdentifier& id : tables) names.push_back(ports::ToString(id));
  std::ranges::sort(names);
  if (options.common.json) {
    Listing listing(environment.terminal, {.json = true}, {"table"});
    for (std::string& name : names) listing.AddRow({std::move(name)});
    listing.Finish();
    return kExitOk;
  }
  for (const std::string& name : names) environment.terminal.Out(Printable(name) + "\n");
  return kExitOk;
}

}  // namespace

void AddTables(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<TablesOptions>();
  CLI::App* command = app.add_subcommand("tables", "The tables of a catalog, one a line");
  AddPlaceOptions(*command, options->request);
  AddCommonOptions(*command, options->common);
  command->callback([options, &context] {
    RunCommand(context, options->common, [&] { return RunTables(context.environment, *options); });
  });
}

}  // namespace firn::cli
