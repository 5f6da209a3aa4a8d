// SPDX-License-Identifier: Apache-2.0
//
// One simulated world: storage, catalog, a table, other writers, and firn as a process that can die.
//
// In: format version, seed. Out: a planned merge, and checks that must hold whatever happened.
// Guarantees: everything comes from the seed. Faults and intrusions happen only to calls of the process, which are
//   those made inside Run() and AsProcess(); the other writers and the checks see storage and catalog as they are.
// Threads: one.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "act/commit.h"
#include "act/rewrite.h"
#include "base/random.h"
#include "ports/clock.h"
#include "ports/io_hook.h"
#include "ports/memory_catalog.h"
#include "ports/memory_file_io.h"
#include "sim/table_builder.h"

namespace firn::sim {

struct RewriteReport {
  act::CommitReport commit;
  std::vector<act::GroupRefusal> refusals;  // groups that are not in the commit although it succeeded
};
RewriteReport CommitRewrite(act::CommitEnvironment& environment, const act::CommitTarget& target, act::Rewrite rewrite);

class World {
 public:
  explicit World(std::int32_t format_version, std::uint64_t seed = 1);

  /// Partitions 0 and 1 with `files` files of three rows each, in `snapshots` snapshots a partition; ids count on.
  void Fill(int files, int snapshots);
  /// A merge of the first `count` files of a partition, with its output written.
  act::RewriteGroup MergeOf(std::int32_t part, std::size_t count);
  /// How a rewrite lays out its rows, and what it does about deletes.
  struct Style {
    bool row_maps = true;
    bool fold = false;     // apply all deletes; else files with deletes are left alone
    bool shuffle = false;  // two outputs, rows in any order
  };
  /// The same with row maps, of up to `count` files.
  act::RewriteGroup RewriteOf(std::int32_t part, std::size_t count, const Style& style);
  /// A data file of the group's partition that nobody names yet.
  act::AddedFile WriteMerged(const act::RewriteGroup& group, const std::vector<Row>& rows);
  /// A rewrite of `groups`, planned on the present head.
  act::Rewrite PlanOf(std::vector<act::RewriteGroup> groups, const std::string& plan_id = "plan-1");
  RewriteReport Run(act::Rewrite rewrite) { return Run(std::move(rewrite), *catalog); }
  RewriteReport Run(act::Rewrite rewrite, ports::Catalog& through);

  /// Calls of storage and catalog in `work` are those of the process.
  template <class Work>
  auto AsProcess(Work work) {
    in_process_ = true;
    auto result = work();
    in_process_ = false;
    return result;
  }

  /// Everything that the head has; empty, and a failure of the test, if it cannot be read.
  Contents Head();
  /// Live data files of a partition.
  std::vector<std::string> PathsOf(std::int32_t part);
  /// Rows of the head.
  std::vector<Row> Rows();
  /// Every snapshot can be read, nothing that a snapshot names is missing.
  void CheckSound();
  /// Files made by firn that no snapshot names.
  std::set<std::string> Orphans();
  /// Snapshots with that plan id.
  int CommitsOf(const std::string& plan_id = "plan-1");
  void Fail(const Status& status);

  SimTable& table() { return *table_; }
  act::CommitEnvironment Environment(ports::Catalog& through);

  ports::ManualClock clock{TimestampMs{1'700'000'100'000}};
  std::shared_ptr<ports::MemoryFileIO> storage = std::make_shared<ports::MemoryFileIO>();
  std::shared_ptr<ports::FileIO> io;  // as the process sees storage
  std::unique_ptr<ports::MemoryCatalog> catalog;
  ports::FaultInjector injector;
  /// Called before each call of the process, with its number.
  std::function<void(std::int64_t call, const ports::IoEvent& event)> intrude;
  act::RetryPolicy retry;
  Random random;

 private:
  Status Hook(const ports::IoEvent& event);
  act::RemovedFile RemovedFileOf(const std::string& path, const LiveFile& live);

  std::atomic<bool> in_process_ = false;
  ports::IoHook inject_;
  std::unique_ptr<SimTable> table_;
  std::int64_t next_id_ = 0;
  std::vector<std::string> manifests_;  // of planned files
};

}  // namespace firn::sim
