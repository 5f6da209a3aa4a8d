// SPDX-License-Identifier: Apache-2.0
//
// Makes the commits of a workload from a seed.
//
// In: a workload, a seed. Out: commits in the order of time, until the workload's hours are over.
// Guarantees: the same seed gives the same commits, whatever reads them; each table has a random sequence of its own,
//   so that another number of tables leaves the others' commits as they are.
// Cost: O(log tables) a commit; 24 bytes a table.
// Threads: one owner.
// Source: docs/simulator.md.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "simulate/trace.h"
#include "simulate/workload.h"

namespace firn::simulate {

class SyntheticTrace final : public Trace {
 public:
  /// `workload` has passed CheckWorkload.
  SyntheticTrace(const Workload& workload, std::uint64_t seed, TimestampMs start);
  bool Next(Commit& commit) override;
  std::uint32_t table_count() const override { return static_cast<std::uint32_t>(tables_.size()); }

 private:
  struct Table {
    Random random;
    float commit_ms = 0;  // mean
    float phase = 0;      // of its bursts, part of a cycle
    bool has_history = false;
  };
  struct Due {
    std::int64_t at_ms;
    std::uint32_t table;
    bool operator<(const Due& other) const {  // the earliest is the top of a heap
      return at_ms != other.at_ms ? at_ms > other.at_ms : table > other.table;
    }
  };

  std::int64_t NextCommitMs(Table& table, std::int64_t after_ms) const;
  std::int64_t SlotOf(std::int64_t at_ms) const;
  void AddHistory(Random& random, Commit& commit) const;
  void AddNewRows(Table& table, std::int64_t slot, Commit& commit) const;
  void AddLateRows(Random& random, std::int64_t slot, Commit& commit) const;
  void AddFiles(Random& random, double size_factor, PartitionCommit& partition) const;
  void AddDeletes(Random& random, PartitionCommit& partition) const;

  const Workload workload_;
  const std::int64_t start_ms_, end_ms_;
  std::vector<Table> tables_;
  std::vector<Due> heap_;
};

}  // namespace firn::simulate
