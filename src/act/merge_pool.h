// SPDX-License-Identifier: Apache-2.0
//
// Runs the merges of a plan's groups on several threads, best group first.
//
// In: a plan and its facts. Out: per group a merged file that nobody names yet, or an error.
// Guarantees: every group ends, also after a failure of others or a cancellation. Entries are read for some thousand
//   files at a time, and each manifest once for all of them; with their metrics as far as these fit into
//   kEntryBytesMax, else the metrics are read again when the file is written.
// Cost: `workers` merges at a time, each with the memory of MergeContext::options; entries of two chunks of groups.
// Errors: per group, see file_merge.h; kCancelled for groups that were not begun.
// Threads: one owner; `progress` is called from the workers, one call at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "act/file_merge.h"
#include "decide/plan.h"
#include "observe/facts.h"

namespace firn::act {

/// How a group ended.
struct MergedGroup {
  std::optional<Error> error;  // absent: `group` may be committed
  RewriteGroup group;
  std::int64_t input_bytes = 0;  // of the files in `group`
  splice::Report report;
  std::vector<Error> left_out;  // why, by file
};

/// Memory of the entries that are read at a time.
inline constexpr std::size_t kEntryBytesMax = 12 << 20;

class MergePool {
 public:
  using Progress = std::function<void(std::int64_t bytes_done, std::int64_t groups_done)>;

  /// All arguments outlive the pool. `progress` gets the input bytes of all groups so far.
  MergePool(const MergeContext& context, const decide::Plan& plan, const observe::Facts& facts, int workers,
            const std::atomic<bool>* cancelled, Progress progress);
  ~MergePool();
  MergePool(const MergePool&) = delete;
  MergePool& operator=(const MergePool&) = delete;

  /// Waits until the groups [begin, end) of one of `ranges` have ended; returns its index. Empty ranges are skipped.
  std::size_t WaitForAny(const std::vector<std::pair<std::size_t, std::size_t>>& ranges);
  /// The result of a group that has ended. Once.
  MergedGroup Take(std::size_t group);
  /// Locations of files that could not be removed.
  std::vector<std::string> leftovers();

 private:
  struct Job {
    std::size_t group = 0;
    MergeInputs inputs;
  };

  void Work();
  void Resolve(std::size_t begin, std::size_t end);
  Result<std::vector<iceberg::ManifestEntry>> ReadEntries(const std::vector<std::uint32_t>& files, bool& complete);
  std::size_t ChunkEnd(std::size_t begin) const;
  Status CheckGroup(std::size_t group) const;
  void ReturnMemoryAfter(std::size_t group);
  MergedGroup Merge(Job job, std::vector<std::string>& leftovers);
  std::optional<Error> Overtaken(const Job& job, std::uint64_t& seen) const;
  RewriteGroup GroupOf(const Job& job, MergedFile& merged) const;
  void Fail(std::size_t group, Error error);
  void Finish(std::size_t group, MergedGroup result, std::vector<std::string> leftovers);
  void Report(std::int64_t more_bytes, std::int64_t more_groups);
  bool Cancelled() const { return stop_ || (cancelled_ != nullptr && cancelled_->load()); }

  const MergeContext& context_;
  const decide::Plan& plan_;
  const observe::Facts& facts_;
  const std::atomic<bool>* cancelled_;
  Progress progress_;
  std::mutex progress_mutex_;
  std::int64_t bytes_done_ = 0, groups_done_ = 0;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;  // first group that nobody resolves yet
  bool resolving_ = false;
  std::size_t entry_bytes_ = 0;  // of a complete entry, as far as known; only for who resolves
  std::atomic<bool> stop_ = false;
  std::atomic<std::int64_t> freed_bytes_ = 0;  // by merges since memory was given back, about
  std::deque<Job> ready_;
  std::vector<std::optional<MergedGroup>> results_;
  std::vector<bool> ended_;
  std::vector<std::string> leftovers_;
  std::vector<std::jthread> workers_;
};

}  // namespace firn::act
