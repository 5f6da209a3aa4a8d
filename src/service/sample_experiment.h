// SPDX-License-Identifier: Apache-2.0
//
// Merges a sample of a table's files to several sizes in a scratch folder and measures what reading them takes.
//
// In: facts, metadata, the table's files, sizes to try. Out: bytes, files and seconds a size, and the constants of
// reading and merging that fit them.
// Guarantees: the table is only read; what is written is in the scratch folder, which is removed in the end. Planned by
//   Decide, written by the merge that `optimize` uses, read by Arrow; all sizes have the same rows, or it is an error.
//   The same seed takes the same files. Sizes are measured in turns and the least of the repetitions counts, so that
//   what else runs on the machine spoils them little.
// Cost: reads at most bytes_max of the table once and writes it once a size; then scans all of it twice a repetition.
// Errors: kInvalidArgument for a scratch folder that is none; kLimit for a full disk; kUnavailable, kCancelled. Files
//   that cannot be merged are no error: the reason is in the result.
// Threads: one call a thread; starts one worker at a time.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "decide/cost.h"
#include "decide/read_cost.h"
#include "iceberg/metadata.h"
#include "observe/facts.h"
#include "orient/policy.h"
#include "ports/clock.h"
#include "ports/file_io.h"

namespace firn::service {

inline constexpr std::size_t kSampleFilesMax = 2'000;

struct SampleOptions {
  std::int64_t bytes_max = std::int64_t{64} << 20;
  std::string scratch;  // local folder; empty: the system's
  int repeats = 3;
  std::int64_t memory_bytes = std::int64_t{256} << 20;
  std::uint64_t seed = 1;
  ports::Clock* clock = nullptr;
  /// CPU time of the calling thread; empty: not known, wall time is taken.
  std::function<std::int64_t()> thread_cpu_ns = {};
  const std::atomic<bool>* cancelled = nullptr;
  /// Steps done and in all; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

struct ScanTime {
  double wall_seconds = 0, cpu_seconds = 0;
};

struct SampleRun {
  std::int64_t target_size_bytes = 0;  // 0: the files as they are
  std::int64_t files = 0, bytes = 0;
  std::int64_t merged_files = 0, merged_bytes = 0;  // that were rewritten for it
  double merge_seconds = 0;
  ScanTime all, two;  // all columns, the first two
};

struct Experiment {
  bool done = false;
  std::string reason;  // why not
  std::int64_t files = 0, bytes = 0, rows = 0, partitions = 0;
  std::vector<SampleRun> runs;  // as they are first, then by size
  std::optional<decide::ReadCosts> read;
  std::optional<double> size_exponent, merge_bytes_per_second;
};

Result<Experiment> MeasureSample(const observe::Facts& facts, const iceberg::TableMetadata& metadata, ports::FileIO& io,
                                 const orient::Policy& policy, const std::vector<std::int64_t>& targets,
                                 const SampleOptions& options);

/// Sizes that a sample can show apart: those of `targets` that it can fill, and parts of it. Ascending.
std::vector<std::int64_t> SizesToTry(std::int64_t sample_bytes, std::int64_t file_bytes,
                                     const std::vector<std::int64_t>& targets);

}  // namespace firn::service
