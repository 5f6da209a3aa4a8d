// SPDX-License-Identifier: Apache-2.0
// Serves the API and the dashboard of a fleet in memory.
//
//   serve_fleet TABLES [TOKEN]
//
// Prints the port, then obeys lines of standard input until its end: `touch ID FILES` changes a table, `add ID` adds
// one, `fail TEXT` makes the state unreadable, `heal` ends that. Each is answered with `ok`.
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>

#include "api/fleet_fixture.h"
#include "api/serve.h"
#include "ports/clock.h"

namespace {

using firn::service::FleetRowStore;

std::pair<std::string, std::string> SplitWord(const std::string& line) {
  const auto space = line.find(' ');
  return {line.substr(0, space), space == std::string::npos ? "" : line.substr(space + 1)};
}

void Obey(FleetRowStore& fleet, const std::string& line) {
  const auto [word, rest] = SplitWord(line);
  if (word == "touch") {
    const auto [id, files] = SplitWord(rest);
    if (auto table = fleet.Table(id)) {
      table->row.files = std::stoll(files);
      fleet.PutTable(*table);
    }
  } else if (word == "add") {
    firn::service::TableDetail table;
    table.row.id = rest;
    table.row.name = rest;
    table.row.score = 0;
    table.row.state = firn::service::TableRow::State::kFailing;
    table.row.state_reason = rest;
    fleet.PutTable(table);
  } else if (word == "fail") {
    fleet.FailWith(firn::Error{firn::Code::kUnavailable, rest});
  } else if (word == "heal") {
    fleet.FailWith(firn::Ok());
  }
}

}  // namespace

int main(int argc, char** argv) {
  FleetRowStore fleet;
  firn::ports::SystemClock clock;
  firn::api::FillFleet(fleet, argc > 1 ? std::atoi(argv[1]) : 100, clock.Now().value);
  firn::api::ServeOptions options;
  if (argc > 2) options.api.access.token = argv[2];
  auto server = firn::api::ApiServer::Start(fleet, fleet, clock, std::move(options));
  if (!server) {
    std::fprintf(stderr, "serve_fleet: %s\n", firn::ToString(server.error()).c_str());
    return 1;
  }
  std::printf("%d\n", (*server)->port());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    Obey(fleet, line);
    std::printf("ok\n");
    std::fflush(stdout);
  }
  return 0;
}
