// SPDX-License-Identifier: Apache-2.0
//
// A trace that a test writes down, commit by commit.
//
// Guarantees: gives the commits as they were added.
// Threads: none.
#pragma once

#include <utility>
#include <vector>

#include "simulate/trace.h"

namespace firn::simulate::fixture {

inline constexpr std::int64_t kMiB = 1 << 20;

class ListedTrace final : public Trace {
 public:
  explicit ListedTrace(std::uint32_t tables = 1) : tables_(tables) {}
  Commit& Add(std::int64_t at_ms, std::uint32_t table = 0) {
    Commit& commit = commits_.emplace_back();
    commit.at = TimestampMs{at_ms};
    commit.table = table;
    return commit;
  }
  /// One commit of `count` files of one size to one partition.
  void AddFiles(std::int64_t at_ms, std::uint32_t partition, int count, std::int64_t size_bytes) {
    PartitionCommit change;
    change.partition = partition;
    for (int i = 0; i < count; ++i) change.added.push_back({size_bytes, size_bytes / 100});
    Add(at_ms).partitions.push_back(std::move(change));
  }
  bool Next(Commit& commit) override {
    if (next_ == commits_.size()) return false;
    commit = commits_[next_++];
    return true;
  }
  std::uint32_t table_count() const override { return tables_; }
  void Rewind() { next_ = 0; }

 private:
  std::uint32_t tables_;
  std::vector<Commit> commits_;
  std::size_t next_ = 0;
};

}  // namespace firn::simulate::fixture
