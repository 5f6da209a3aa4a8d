// SPDX-License-Identifier: Apache-2.0
#include "simulate/run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace firn::simulate {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct Running {
  std::int64_t end_ms = 0;
  std::int64_t number = 0;  // of its start, so that the order is fixed
  Job job;
  bool operator<(const Running& other) const {  // the first to end is the top of a heap
    return end_ms != other.end_ms ? end_ms > other.end_ms : number > other.number;
  }
};

class Engine {
 public:
  Engine(Trace& trace, MergePolicy& policy, const RunOptions& options)
      : trace_(trace),
        policy_(policy),
        options_(options),
        world_(trace.table_count(), options.healthy_size_bytes),
        site_(world_, result_.funnel, options.workers),
        now_ms_(options.start.value) {
    result_.policy = policy.name();
    result_.what = policy.what();
  }

  Result<RunResult> Run() {
    Commit commit;
    bool has_commit = trace_.Next(commit);
    while (true) {
      const std::int64_t commit_ms = has_commit ? commit.at.value : kNever;
      const std::int64_t done_ms = running_.empty() ? kNever : running_.front().end_ms;
      const auto timer = policy_.NextTimer(site_);
      const std::int64_t timer_ms = timer ? std::max(timer->value, now_ms_) : kNever;
      const std::int64_t next_ms = std::min({commit_ms, done_ms, timer_ms});
      if (next_ms >= options_.end.value) break;
      FIRN_TRY(AdvanceTo(next_ms));
      if (done_ms == next_ms) {
        FIRN_TRY(FinishJob());
      } else if (timer_ms == next_ms) {
        FIRN_TRY(policy_.OnTimer(TimestampMs{now_ms_}, site_));
      } else {
        world_.Apply(commit);
        ++result_.funnel.commits;
        result_.funnel.changed += static_cast<std::int64_t>(commit.partitions.size());
        FIRN_TRY(policy_.OnCommit(commit, site_));
        has_commit = trace_.Next(commit);
      }
      FIRN_TRY(StartJobs());
    }
    FIRN_TRY(AdvanceTo(options_.end.value));
    FIRN_TRY(TakeSample(options_.end.value));
    Summarize();
    return std::move(result_);
  }

 private:
  Status AdvanceTo(std::int64_t to_ms) {
    if (options_.cancelled != nullptr && options_.cancelled->load(std::memory_order_relaxed)) {
      return Error{Code::kCancelled, "the simulation was interrupted"};
    }
    while (NextSampleMs() <= to_ms && taken_ < options_.samples) {
      const std::int64_t at = NextSampleMs();
      Integrate(at);
      FIRN_TRY(TakeSample(at));
      ++taken_;
    }
    Integrate(to_ms);
    return Ok();
  }

  std::int64_t NextSampleMs() const {
    const std::int64_t length = options_.end.value - options_.start.value;
    return options_.start.value + length / options_.samples * taken_;
  }

  void Integrate(std::int64_t to_ms) {
    const auto passed = static_cast<double>(to_ms - now_ms_);
    files_ms_ += passed * static_cast<double>(world_.totals().files);
    read_cost_ms_ += passed * ReadCost(world_.totals());
    delete_reads_ms_ += passed * static_cast<double>(world_.totals().delete_reads);
    worker_ms_ += passed * static_cast<double>(running_.size());
    now_ms_ = to_ms;
  }

  Status TakeSample(std::int64_t at_ms) {
    if (options_.check) FIRN_TRY(world_.Check());
    result_.samples.push_back({TimestampMs{at_ms}, world_.totals(), result_.funnel.bytes_written, worker_ms_ / 1000});
    return Ok();
  }

  Status FinishJob() {
    std::pop_heap(running_.begin(), running_.end());
    const Job job = std::move(running_.back().job);
    running_.pop_back();
    site_.SetFreeWorkers(site_.free_workers() + 1);
    Funnel& funnel = result_.funnel;
    if (!job.converts_deletes) {
      ++funnel.partition_merges;
      funnel.files_in_merged += static_cast<std::int64_t>(world_.partition(job.table, job.partition).files.size());
    }
    const Applied applied = world_.Apply(job);
    world_.SetBusy(job.table, job.partition, false);
    if (job.converts_deletes) {
      ++funnel.conversions;
      funnel.deletes_converted += applied.equality_deletes_removed;
    }
    funnel.merges += applied.merges;
    funnel.overtaken += applied.overtaken;
    funnel.files_replaced += applied.files_replaced;
    funnel.files_made += applied.files_made;
    funnel.bytes_read += applied.bytes_read;
    funnel.bytes_written += applied.bytes_written;
    if (applied.files_made > applied.files_replaced) {
      return Error{Code::kInternal, "a merge made more files than it replaced"};
    }
    return policy_.OnDone(job, applied, TimestampMs{now_ms_}, site_);
  }

  Status StartJobs() {
    while (site_.free_workers() > 0) {
      FIRN_ASSIGN(std::optional<Job> job, policy_.NextJob(TimestampMs{now_ms_}, site_));
      if (!job) break;
      if (!world_.partition(job->table, job->partition).is_busy) {
        return Error{Code::kInternal, "a policy gave a job of a partition that it had not reserved"};
      }
      const auto length_ms = static_cast<std::int64_t>(std::ceil(1000 * job->seconds));
      running_.push_back({now_ms_ + std::max<std::int64_t>(1, length_ms), started_++, std::move(*job)});
      std::push_heap(running_.begin(), running_.end());
      site_.SetFreeWorkers(site_.free_workers() - 1);
      result_.peak_workers = std::max(result_.peak_workers, static_cast<std::int32_t>(running_.size()));
    }
    result_.peak_files = std::max(result_.peak_files, world_.totals().files);
    return Ok();
  }

  void Summarize() {
    const auto length = static_cast<double>(options_.end.value - options_.start.value);
    result_.end = world_.totals();
    result_.bytes_ingested = world_.bytes_ingested();
    result_.removals_redirected = world_.removals_redirected();
    result_.mean_files = files_ms_ / length;
    result_.mean_read_cost = read_cost_ms_ / length;
    result_.mean_delete_reads = delete_reads_ms_ / length;
    result_.worker_seconds = worker_ms_ / 1000;
    result_.mean_workers = worker_ms_ / length;
  }

  Trace& trace_;
  MergePolicy& policy_;
  const RunOptions options_;
  RunResult result_;
  World world_;
  Site site_;
  std::vector<Running> running_;
  std::int64_t now_ms_;
  std::int64_t started_ = 0;
  std::int32_t taken_ = 0;
  double files_ms_ = 0, read_cost_ms_ = 0, delete_reads_ms_ = 0, worker_ms_ = 0;
};

}  // namespace

Result<RunResult> Run(Trace& trace, MergePolicy& policy, const RunOptions& options) {
  return Engine(trace, policy, options).Run();
}

}  // namespace firn::simulate
