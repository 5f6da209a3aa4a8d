// SPDX-License-Identifier: Apache-2.0
//
// Runs the program's commands on a simulated table, as a user types them.
//
// Guarantees: everything around the commands is the world's: clock, randomness, storage, catalog.
// Threads: one owner.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/command_answer_test.h"
#include "cli/command_line.h"
#include "sim/world.h"

namespace firn::sim {

using cli::Answer;

class CommandLine : public testing::Test {
 protected:
  CommandLine() { world.Fill(6, 3); }

  Answer Run(std::vector<std::string> arguments) {
    cli::MemoryTerminal terminal;
    cli::Environment environment{
        terminal,
        world.clock,
        world.random,
        [&](const cli::TableRequest& request) { return Open(request); },
        [&](const cli::TableRequest&) -> Result<std::shared_ptr<ports::FileIO>> { return world.io; },
        cancelled,
        [&](const cli::TableRequest&) -> Result<std::shared_ptr<ports::Catalog>> { return Catalog(); },
        [&](const cli::TableRequest&) -> Result<ports::Properties> { return settings; }};
    Answer answer;
    answer.exit = cli::RunCommandLine(std::move(arguments), environment);
    answer.out = terminal.out;
    answer.err = terminal.err;
    return answer;
  }

  std::shared_ptr<ports::Catalog> Catalog() { return {std::shared_ptr<void>(), world.catalog.get()}; }

  Result<cli::OpenedTable> Open(const cli::TableRequest& request) {
    cli::OpenedTable opened;
    opened.io = world.io;
    if (by_location) {
      opened.catalog = by_location;
      FIRN_ASSIGN(opened.table, by_location->LoadTable({{}, request.table}));
      return opened;
    }
    opened.catalog = Catalog();
    FIRN_ASSIGN(auto id, ports::ParseTableIdentifier(request.table));
    if (id.name_space.size() == 2) id.name_space.erase(id.name_space.begin());  // "cat.db.t"
    FIRN_ASSIGN(opened.table, opened.catalog->LoadTable(id));
    return opened;
  }

  World world{2};
  std::atomic<bool> cancelled = false;
  ports::Properties settings;
  /// Set: TABLE is a location, and this catalog reads it.
  std::shared_ptr<ports::Catalog> by_location;
};

}  // namespace firn::sim
