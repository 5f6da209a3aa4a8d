// SPDX-License-Identifier: Apache-2.0
#include "simulate/baselines.h"

#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>

#include "decide/packing_free.h"
#include "decide/packing_model.h"
#include "orient/file_size_entropy.h"
#include "simulate/spark_groups.h"

namespace firn::simulate {
namespace {

/// Jobs wait in the order in which they were found.
class QueuedPolicy : public MergePolicy {
 public:
  QueuedPolicy(std::string name, std::string what, const PolicyOptions& options)
      : options_(options), name_(std::move(name)), what_(std::move(what)) {}
  std::string_view name() const override { return name_; }
  std::string_view what() const override { return what_; }
  Status OnCommit(const Commit& commit, Site& site) override {
    for (const PartitionCommit& change : commit.partitions) {
      if (site.is_busy(commit.table, change.partition)) {
        changed_meanwhile_.insert(KeyOf(commit.table, change.partition));
      } else {
        FIRN_TRY(Look(commit.table, change.partition, site));
      }
    }
    return Ok();
  }
  Result<std::optional<Job>> NextJob(TimestampMs /*now*/, Site& /*site*/) override {
    if (queue_.empty()) return std::optional<Job>();
    std::optional<Job> job(std::move(queue_.front()));
    queue_.pop_front();
    return job;
  }
  Status OnDone(const Job& job, const Applied& /*applied*/, TimestampMs /*now*/, Site& site) override {
    return changed_meanwhile_.erase(KeyOf(job.table, job.partition)) > 0 ? Look(job.table, job.partition, site) : Ok();
  }

 protected:
  /// At a partition that was changed and is not busy.
  virtual Status Look(std::uint32_t table, std::uint32_t partition, Site& site) = 0;

  void Enqueue(std::uint32_t table, std::uint32_t partition, std::vector<Merge> merges, Site& site) {
    if (merges.empty()) return;
    Job job;
    job.table = table;
    job.partition = partition;
    job.sequence = site.world().sequence(table);
    for (const Merge& merge : merges) job.seconds += merge.seconds;
    job.merges = std::move(merges);
    Enqueue(std::move(job), site);
  }
  void Enqueue(Job job, Site& site) {
    site.Reserve(job.table, job.partition);
    queue_.push_back(std::move(job));
  }
  void ScanAndGroup(std::uint32_t table, std::uint32_t partition, Site& site) {
    const StoredPartition& stored = site.Scan(table, partition);
    Enqueue(table, partition, SparkGroups(stored, options_.plan.policy.target_size_bytes, options_.plan.cost), site);
  }

  const PolicyOptions options_;

 private:
  static std::uint64_t KeyOf(std::uint32_t table, std::uint32_t partition) {
    return (std::uint64_t{table} << 32) | partition;
  }

  const std::string name_, what_;
  std::deque<Job> queue_;
  std::unordered_set<std::uint64_t> changed_meanwhile_;  // partitions that were busy when a commit changed them
};

class NonePolicy final : public QueuedPolicy {
 public:
  NonePolicy() : QueuedPolicy("none", "nothing is merged", {}) {}
  Status Look(std::uint32_t /*table*/, std::uint32_t /*partition*/, Site& /*site*/) override { return Ok(); }
};

class PeriodicPolicy final : public QueuedPolicy {
 public:
  explicit PeriodicPolicy(const PolicyOptions& options)
      : QueuedPolicy("periodic",
                     fmt::format("all partitions every {:g} h, grouped as Spark's rewrite_data_files does",
                                 options.period_hours),
                     options),
        period_ms_(std::llround(options.period_hours * 3.6e6)),
        next_{options.start.value + period_ms_} {}
  std::optional<TimestampMs> NextTimer(const Site& /*site*/) const override { return next_; }
  Status OnTimer(TimestampMs /*now*/, Site& site) override {
    next_.value += period_ms_;
    for (std::uint32_t table = 0; table < site.table_count(); ++table) {
      for (std::uint32_t partition = 0; partition < site.partition_count(table); ++partition) {
        if (site.is_busy(table, partition) || site.world().partition(table, partition).files.empty()) continue;
        site.CountNoisy();
        ScanAndGroup(table, partition, site);
      }
    }
    return Ok();
  }
  Status Look(std::uint32_t /*table*/, std::uint32_t /*partition*/, Site& /*site*/) override { return Ok(); }

 private:
  const std::int64_t period_ms_;
  TimestampMs next_;
};

class ThresholdPolicy final : public QueuedPolicy {
 public:
  explicit ThresholdPolicy(const PolicyOptions& options)
      : QueuedPolicy("threshold",
                     fmt::format("a partition with {} small files, grouped as Spark's rewrite_data_files does",
                                 options.small_files),
                     options) {}
  Status Look(std::uint32_t table, std::uint32_t partition, Site& site) override {
    if (site.small_files(table, partition) < options_.small_files) return Ok();
    site.CountNoisy();
    ScanAndGroup(table, partition, site);
    return Ok();
  }
};

class EntropyPolicy final : public QueuedPolicy {
 public:
  explicit EntropyPolicy(const PolicyOptions& options)
      : QueuedPolicy("entropy",
                     fmt::format("each changed partition at each commit; above entropy {:g} first-fit decreasing",
                                 options.tolerated_entropy),
                     options),
        model_(Limits(options)) {}
  Status Look(std::uint32_t table, std::uint32_t partition, Site& site) override {
    const StoredPartition& stored = site.Scan(table, partition);
    orient::FileSizeEntropy entropy(options_.plan.policy.target_size_bytes);
    for (const StoredFile& file : stored.files) entropy.Add(file.size_bytes);
    if (entropy.entropy() <= options_.tolerated_entropy) return Ok();
    site.CountNoisy();
    Enqueue(table, partition, Pack(stored, site), site);
    return Ok();
  }

 private:
  static decide::PackingLimits Limits(const PolicyOptions& options) {
    decide::PackingLimits limits;
    limits.target_size_bytes = options.plan.policy.target_size_bytes;
    limits.healthy_size_bytes = options.plan.policy.healthy_size_bytes();
    limits.size_max_bytes = options.plan.policy.size_max_bytes();
    limits.min_input_files = options.plan.policy.min_input_files;
    limits.size_exponent = options.plan.cost.size_exponent;
    return limits;
  }

  std::vector<Merge> Pack(const StoredPartition& stored, const Site& site) const {
    std::vector<const StoredFile*> files;
    std::vector<std::int64_t> sizes;
    for (const StoredFile& file : stored.files) {
      if (!site.world().IsSmall(file)) continue;
      files.push_back(&file);
      sizes.push_back(file.size_bytes);
    }
    std::vector<Merge> merges;
    for (const decide::Bin& bin : decide::PackFirstFitDecreasing(sizes, model_)) {
      std::vector<const StoredFile*> members;
      for (const std::uint32_t i : bin) members.push_back(files[i]);
      Merge merge = MergeOf(members, 1, options_.plan.policy.target_size_bytes, options_.plan.cost);
      const bool is_finished = merge.output_bytes >= options_.plan.policy.healthy_size_bytes();
      if (is_finished || members.size() >= static_cast<std::size_t>(options_.plan.policy.min_input_files)) {
        merges.push_back(std::move(merge));
      }
    }
    return merges;
  }

  const decide::PackingModel model_;
};

class EveryCommitPolicy final : public QueuedPolicy {
 public:
  explicit EveryCommitPolicy(const PolicyOptions& options)
      : QueuedPolicy("every-commit", "each changed partition at each commit, planned as firn does", options) {}
  Status Look(std::uint32_t table, std::uint32_t partition, Site& site) override {
    site.CountNoisy();
    site.Scan(table, partition);
    FIRN_ASSIGN(Job job, PlanPartition(site.world(), table, partition, options_.plan));
    if (!job.merges.empty()) Enqueue(std::move(job), site);
    return Ok();
  }
};

}  // namespace

std::unique_ptr<MergePolicy> MakeNonePolicy() { return std::make_unique<NonePolicy>(); }
std::unique_ptr<MergePolicy> MakePeriodicPolicy(const PolicyOptions& options) {
  return std::make_unique<PeriodicPolicy>(options);
}
std::unique_ptr<MergePolicy> MakeThresholdPolicy(const PolicyOptions& options) {
  return std::make_unique<ThresholdPolicy>(options);
}
std::unique_ptr<MergePolicy> MakeEntropyPolicy(const PolicyOptions& options) {
  return std::make_unique<EntropyPolicy>(options);
}
std::unique_ptr<MergePolicy> MakeEveryCommitPolicy(const PolicyOptions& options) {
  return std::make_unique<EveryCommitPolicy>(options);
}

}  // namespace firn::simulate
