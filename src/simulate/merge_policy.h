// SPDX-License-Identifier: Apache-2.0
//
// What a simulation asks of a policy: look at what happened, and say what a free worker does next.
//
// In: commits, times that the policy asked for, finished jobs. Out: jobs.
// Guarantees: a policy sees commits as an optimizer does: the change of each, and a partition's files only by a scan,
//   which is counted. It gives jobs of partitions that it has reserved.
// Threads: one owner.
// Source: docs/simulator.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "simulate/partition_plan.h"
#include "simulate/trace.h"
#include "simulate/world.h"

namespace firn::simulate {

/// Steps from commits to replaced files. Each policy has the same words.
struct Funnel {
  std::int64_t commits = 0;
  std::int64_t changed = 0;  // partitions touched, one for each commit that touches one
  std::int64_t noisy = 0;    // times that a partition passed the policy's trigger
  std::int64_t scans = 0;    // reads of all entries of a partition
  std::int64_t scan_entries = 0;
  std::int64_t rechecks = 0;           // scans right before a merge, which are counted apart
  std::int64_t partition_merges = 0;   // jobs: a partition's merges at one time
  std::int64_t merges = 0;             // output groups of them
  std::int64_t conversions = 0;        // jobs that made vectors of a partition's equality deletes
  std::int64_t deletes_converted = 0;  // equality delete files
  std::int64_t overtaken = 0;
  std::int64_t files_in_merged = 0;  // all files of the partitions, as each job began to replace some
  std::int64_t files_replaced = 0, files_made = 0;
  std::int64_t bytes_read = 0, bytes_written = 0;
};

/// The world as a policy sees it.
class Site {
 public:
  Site(World& world, Funnel& funnel, std::int32_t workers)
      : world_(world), funnel_(funnel), workers_(workers), free_workers_(workers) {}
  std::int32_t workers() const { return workers_; }
  std::int32_t free_workers() const { return free_workers_; }
  void SetFreeWorkers(std::int32_t count) { free_workers_ = count; }
  std::uint32_t table_count() const { return world_.table_count(); }
  std::uint32_t partition_count(std::uint32_t table) const { return world_.partition_count(table); }
  /// A merge of it waits or runs.
  bool is_busy(std::uint32_t table, std::uint32_t partition) const {
    return world_.partition(table, partition).is_busy;
  }
  /// What counting the files of every commit tells without a scan.
  std::int32_t small_files(std::uint32_t table, std::uint32_t partition) const {
    return world_.partition(table, partition).small_files;
  }
  void CountNoisy() { ++funnel_.noisy; }
  /// Reads the partition's files.
  const StoredPartition& Scan(std::uint32_t table, std::uint32_t partition) {
    ++funnel_.scans;
    return Read(table, partition);
  }
  /// The same for a partition that was scanned before and waited.
  const StoredPartition& Recheck(std::uint32_t table, std::uint32_t partition) {
    ++funnel_.rechecks;
    return Read(table, partition);
  }
  /// From now on it is busy, until its job is done or given up.
  void Reserve(std::uint32_t table, std::uint32_t partition) { world_.SetBusy(table, partition, true); }
  void Release(std::uint32_t table, std::uint32_t partition) { world_.SetBusy(table, partition, false); }
  /// For FactsOf and JobOf of a partition that was scanned.
  const World& world() const { return world_; }

 private:
  const StoredPartition& Read(std::uint32_t table, std::uint32_t partition) {
    const StoredPartition& stored = world_.partition(table, partition);
    funnel_.scan_entries += static_cast<std::int64_t>(stored.files.size());
    return stored;
  }

  World& world_;
  Funnel& funnel_;
  const std::int32_t workers_;
  std::int32_t free_workers_;
};

struct PolicyOptions {
  PlanSettings plan;
  TimestampMs start;
  double period_hours = 6;          // of `periodic`
  std::int32_t small_files = 20;    // of `threshold`
  double tolerated_entropy = 0.25;  // of `entropy`
};

class MergePolicy {
 public:
  virtual ~MergePolicy() = default;
  virtual std::string_view name() const = 0;
  /// One sentence with the settings, for people.
  virtual std::string_view what() const = 0;
  virtual Status OnCommit(const Commit& commit, Site& site) = 0;
  /// When it wants to be asked next without a commit; nullopt: not.
  virtual std::optional<TimestampMs> NextTimer(const Site& /*site*/) const { return std::nullopt; }
  virtual Status OnTimer(TimestampMs /*now*/, Site& /*site*/) { return Ok(); }
  /// A worker is free. nullopt: nothing to do now.
  virtual Result<std::optional<Job>> NextJob(TimestampMs now, Site& site) = 0;
  /// After the world was changed, and the partition is not busy any more.
  virtual Status OnDone(const Job& /*job*/, const Applied& /*applied*/, TimestampMs /*now*/, Site& /*site*/) {
    return Ok();
  }
};

}  // namespace firn::simulate
