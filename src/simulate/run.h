// SPDX-License-Identifier: Apache-2.0
//
// Plays a trace against a policy, in simulated time, with a limited number of workers.
//
// In: a trace, a policy, options. Out: the funnel, sums over time, worker-seconds.
// Guarantees: the same trace, policy and options give the same result. No clock is read: an hour of a quiet table costs
//   nothing. Finished merges come before timers, timers before commits of the same millisecond. With `check` the world
//   is counted again at each sample.
// Cost: that of the policy, and O(changed files) a commit.
// Errors: kInternal if rows, sums or a promise of decide do not hold; kCancelled.
// Threads: one owner; runs of different policies may go on at the same time.
// Source: docs/simulator.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "orient/delete_debt.h"
#include "simulate/merge_policy.h"
#include "simulate/trace.h"
#include "simulate/world.h"

namespace firn::simulate {

/// Bytes that reading all tables once costs, with the deletes of each file.
inline double ReadCost(const Totals& totals) {
  return static_cast<double>(totals.bytes) +
         static_cast<double>(orient::kOpenCostBytes) * static_cast<double>(totals.files + totals.delete_reads);
}

struct RunOptions {
  TimestampMs start, end;
  std::int32_t workers = 16;
  std::int32_t samples = 240;
  std::int64_t healthy_size_bytes = 0;
  bool check = true;
  const std::atomic<bool>* cancelled = nullptr;  // borrowed
};

struct Sample {
  TimestampMs at;
  Totals totals;
  std::int64_t bytes_written = 0;  // by merges so far
  double worker_seconds = 0;       // so far
};

struct RunResult {
  std::string policy, what;
  Funnel funnel;
  Totals end;
  std::int64_t bytes_ingested = 0;
  std::int64_t removals_redirected = 0;
  double mean_files = 0, mean_read_cost = 0, mean_delete_reads = 0;  // over time
  std::int64_t peak_files = 0;
  double worker_seconds = 0;
  double mean_workers = 0;
  std::int32_t peak_workers = 0;
  std::vector<Sample> samples;
};

Result<RunResult> Run(Trace& trace, MergePolicy& policy, const RunOptions& options);

}  // namespace firn::simulate
