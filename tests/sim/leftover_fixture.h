// SPDX-License-Identifier: Apache-2.0
//
// Runs of several processes on one simulated table, and what they leave.
//
// In: a World. Out: outcomes of runs, names of files that nothing names. Threads: one.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "act/run_journal.h"
#include "ports/metadata_file.h"
#include "service/optimize.h"
#include "sim/faulty_catalog.h"
#include "sim/world.h"

namespace firn::sim {

/// Processes by number; of those that are not in `states` nobody knows.
class TestProcesses final : public ports::Processes {
 public:
  explicit TestProcesses(std::int64_t self) : self_(self) {}
  ports::ProcessIdentity Self() const override { return {"host", "boot", "pid:[1]", self_, "1"}; }
  ports::ProcessState StateOf(const ports::ProcessIdentity& process) const override {
    const auto found = states.find(process.pid);
    return found == states.end() ? ports::ProcessState::kUnknown : found->second;
  }
  bool IsFree(std::int64_t pid) const override {
    const auto found = states.find(pid);
    return found != states.end() && found->second == ports::ProcessState::kEnded;
  }

  std::map<std::int64_t, ports::ProcessState> states;

 private:
  std::int64_t self_;
};

inline service::OptimizeOptions OptionsOf(bool enabled) {
  service::OptimizeOptions options;
  options.rewrite.memory_bytes = 256 << 20;
  options.assess.policy.enabled = enabled;
  return options;
}

/// A process whose runs are marked, and which sees the others as `states` says.
struct MarkedProcess {
  MarkedProcess(World& world, std::int64_t pid, std::map<std::int64_t, ports::ProcessState> states = {},
                ports::Catalog* through = nullptr)
      : processes(pid), environment(world.Environment(through == nullptr ? *world.catalog : *through)) {
    processes.states = std::move(states);
    environment.processes = &processes;
  }
  MarkedProcess(const MarkedProcess&) = delete;
  MarkedProcess& operator=(const MarkedProcess&) = delete;

  TestProcesses processes;
  act::CommitEnvironment environment;
};

/// As process `pid`, which sees the others as `states` says.
inline Result<service::Optimized> Optimize(World& world, std::int64_t pid,
                                           std::map<std::int64_t, ports::ProcessState> states, bool enabled = true,
                                           ports::Catalog* through = nullptr) {
  MarkedProcess process(world, pid, std::move(states), through);
  return service::Optimize(process.environment, SimTable::Id(), OptionsOf(enabled));
}

inline Result<service::Optimized> OptimizeAsProcess(World& world, ports::Catalog* through = nullptr) {
  return world.AsProcess([&] { return Optimize(world, 1, {}, true, through); });
}

/// Process 1 dies at that call of its run, when it is `done` or before; the call, for people.
inline std::string DieAt(World& world, std::int64_t call, bool done) {
  world.injector.Reset();
  world.injector.CrashAt(call, done);
  (void)OptimizeAsProcess(world);
  std::string text = fmt::format("call {}{}: {}", call, done ? " done" : "",
                                 world.injector.trace().at(static_cast<std::size_t>(call - 1)));
  world.injector.Reset();
  return text;
}

inline constexpr auto kEnded = ports::ProcessState::kEnded;
inline constexpr auto kRuns = ports::ProcessState::kRuns;

/// Files that nothing names: also metadata files, and marks.
inline std::set<std::string> Unnamed(World& world) {
  std::set<std::string> unnamed = world.Orphans();
  const Result<ports::LoadedTable> table = world.table().Load();
  const Result<ports::ListPage> listed = world.storage->List("mem://wh/db/t/metadata/", "");
  if (!table || !listed) {
    ADD_FAILURE() << "the table cannot be read";
    return unnamed;
  }
  const std::vector<std::string>& log = table->metadata->metadata_log();
  for (const ports::FileInfo& file : listed->files) {
    if (file.location.find("/firn-runs/") != std::string::npos) unnamed.insert(file.location);
    if (!ports::IsMetadataFileName(file.location) || file.location == table->metadata_location) continue;
    if (std::ranges::find(log, file.location) == log.end()) unnamed.insert(file.location);
  }
  return unnamed;
}

/// Of the one run that left one.
inline act::RunMark OnlyMark(World& world) {
  const auto table = world.table().Load();
  const auto found = act::FindRunMarks(*world.storage, *table->metadata);
  if (!found || found->marks.size() != 1) {
    ADD_FAILURE() << "not one mark";
    return {};
  }
  return found->marks.front();
}

/// A data file that the run of `mark` could have written.
inline std::string OwnFile(const act::RunMark& mark, std::size_t number) {
  return fmt::format("mem://wh/db/t/data/00000-{}-{}{:012x}-00001.parquet", number, mark.run, number);
}

inline std::int64_t CallsOf(std::int32_t version) {
  World world(version);
  world.Fill(6, 3);
  world.injector.Reset();
  const auto done = OptimizeAsProcess(world);
  EXPECT_TRUE(done && done->outcome.failures.empty());
  EXPECT_EQ(Unnamed(world), std::set<std::string>());
  return world.injector.call_count();
}

/// What one journal of process 2 does about what is there.
inline act::Tidied LookAt(World& world, const ports::LoadedTable& table, ports::ProcessState state) {
  MarkedProcess process(world, 2, {{1, state}});
  act::RunJournal journal(process.environment, "main");
  journal.LookAtEarlier(table);
  return journal.End(false, table, false);
}

}  // namespace firn::sim
