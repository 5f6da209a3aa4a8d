// SPDX-License-Identifier: Apache-2.0
#include "simulate/firn_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <span>
#include <string>
#include <utility>

#include "decide/backlog.h"
#include "decide/plan_effect.h"
#include "orient/file_size_entropy.h"
#include "orient/orient.h"
#include "orient/partition_key.h"
#include "orient/table_state.h"
#include "orient/triage.h"
#include "simulate/delete_conversion.h"

namespace firn::simulate {
namespace {

constexpr std::int64_t kSweepMs = 3'600'000;
/// The backlog is put in order at most so often, as a service would do.
constexpr std::int64_t kArrangeMs = 1'000;

std::string KeyOf(std::uint32_t partition) {
  iceberg::PartitionTuple tuple;
  tuple.values = {static_cast<std::int32_t>(partition)};
  return orient::PartitionKeyOf(SpecId{0}, tuple);
}

observe::PartitionDelta DeltaOf(std::uint32_t partition) {
  observe::PartitionDelta delta;
  delta.tuple.values = {static_cast<std::int32_t>(partition)};
  return delta;
}

void Append(const std::vector<NewFile>& files, std::vector<observe::ChangedFile>& changed) {
  for (const NewFile& file : files) changed.push_back({file.size_bytes, file.rows, 0});
}

observe::Change ChangeOf(const World& world, std::uint32_t table, TimestampMs at) {
  const std::int64_t sequence = world.sequence(table);
  observe::Change change;
  change.snapshot_id = SnapshotId{sequence};
  if (sequence > 1) change.parent_id = SnapshotId{sequence - 1};
  change.sequence_number = SequenceNumber{sequence};
  change.timestamp = at;
  return change;
}

decide::Effect EffectOf(const decide::Plan& plan) {
  decide::Effect effect;
  for (const decide::MergeGroup& group : plan.groups) effect += decide::EffectOf(group);
  return effect;
}

class FirnPolicy final : public MergePolicy {
 public:
  explicit FirnPolicy(const PolicyOptions& options)
      : plan_(options.plan),
        what_(fmt::format("noise from {:g}, then triage, scan, plan, backlog; a sweep every hour",
                          options.plan.policy.noise_threshold)),
        next_sweep_{options.start.value + kSweepMs} {}
  std::string_view name() const override { return "firn"; }
  std::string_view what() const override { return what_; }

  Status OnCommit(const Commit& commit, Site& site) override {
    observe::Change change = ChangeOf(site.world(), commit.table, commit.at);
    for (const PartitionCommit& part : commit.partitions)
      change.partitions.push_back(DeltaOf(site.world(), commit, part));
    orient::TableState& state = StateOf(commit.table, site);
    state.Apply(change, plan_.policy, commit.at);
    for (const PartitionCommit& part : commit.partitions) {
      if (!site.is_busy(commit.table, part.partition)) FIRN_TRY(Look(commit.table, part.partition, commit.at, site));
    }
    return Ok();
  }

  std::optional<TimestampMs> NextTimer(const Site& site) const override {
    if (waiting_.empty() || site.free_workers() == 0) return next_sweep_;
    return std::min(next_sweep_, next_arrange_);
  }

  Status OnTimer(TimestampMs now, Site& site) override {
    if (now < next_sweep_) return Ok();  // the backlog is due: NextJob follows
    next_sweep_.value += kSweepMs;
    for (std::uint32_t table = 0; table < tables_.size(); ++table) {
      if (tables_[table] == nullptr) continue;
      for (std::uint32_t partition = 0; partition < site.partition_count(table); ++partition) {
        if (!site.is_busy(table, partition)) FIRN_TRY(Look(table, partition, now, site));
      }
    }
    return Ok();
  }

  Result<std::optional<Job>> NextJob(TimestampMs now, Site& site) override {
    while (true) {
      if (ready_.empty() && !Arrange(now, site)) return std::optional<Job>();
      const Started started = std::move(ready_.front());
      ready_.pop_front();
      site.Recheck(started.table, started.partition);
      FIRN_ASSIGN(Job job, PlanAnew(started, site));
      if (!job.is_empty()) {
        running_.push_back(started.job);
        return std::optional<Job>(std::move(job));
      }
      // What was worth doing is gone.
      ledger_.Settle(started.job, {}, now);
      Free(started.table, started.partition, site);
    }
  }

  Status OnDone(const Job& job, const Applied& applied, TimestampMs now, Site& site) override {
    const auto mine =
        std::ranges::find(running_, JobId(job.table, job.partition, ActionOf(job)), &decide::RunningJob::id);
    if (mine == running_.end()) return Error{Code::kInternal, "a job has ended that was not running"};
    decide::Effect measured = mine->charged;
    measured.bytes = applied.bytes_read;
    measured.seconds = job.seconds;
    ledger_.Settle(*mine, measured, now);
    running_.erase(mine);
    observe::Change change = ChangeOf(site.world(), job.table, now);
    change.is_own = true;
    observe::PartitionDelta& delta = change.partitions.emplace_back(simulate::DeltaOf(job.partition));
    Append(applied.added, delta.added);
    Append(applied.removed, delta.removed);
    delta.removed_deletes.vectors = applied.vectors_removed;
    delta.removed_deletes.equality_files = applied.equality_deletes_removed;
    delta.added_deletes.vectors = applied.vectors_added;
    StateOf(job.table, site).Apply(change, plan_.policy, now);
    // What else was found there waits for its turn.
    if (Free(job.table, job.partition, site); site.is_busy(job.table, job.partition)) return Ok();
    return Look(job.table, job.partition, now, site);
  }

 private:
  struct Started {
    std::uint32_t table = 0, partition = 0;
    decide::RunningJob job;
  };

  static decide::Action ActionOf(const Job& job) {
    return job.converts_deletes ? decide::Action::kRewriteDeletes : decide::Action::kMerge;
  }
  static std::string JobId(std::uint32_t table, std::uint32_t partition, decide::Action action) {
    return fmt::format("{}/{}/{}", table, partition, decide::ActionName(action));
  }

  Result<Job> PlanAnew(const Started& started, const Site& site) const {
    if (started.job.action == decide::Action::kMerge) {
      return PlanPartition(site.world(), started.table, started.partition, plan_);
    }
    const observe::DeleteFacts facts = DeleteFactsOf(site.world(), started.table, started.partition);
    return ConversionOf(site.world(), started.table, started.partition, facts, decide::PlanDeleteRewrite(facts, {}));
  }

  /// After work of the partition is done or given up: it is busy while other work of it waits.
  void Free(std::uint32_t table, std::uint32_t partition, Site& site) const {
    const std::pair place(table, partition);
    const bool waits = std::ranges::find(places_, place) != places_.end() ||
                       std::ranges::any_of(
                           ready_, [&](const Started& each) { return std::pair(each.table, each.partition) == place; });
    if (waits) {
      site.Reserve(table, partition);
    } else {
      site.Release(table, partition);
    }
  }

  static observe::PartitionDelta DeltaOf(const World& world, const Commit& commit, const PartitionCommit& part) {
    observe::PartitionDelta delta = simulate::DeltaOf(part.partition);
    Append(part.added, delta.added);
    for (const std::int64_t size_bytes : part.removed_sizes) delta.removed.push_back({size_bytes, 0, 0});
    const StoredPartition& stored = world.partition(commit.table, part.partition);
    delta.added_deletes.vectors = stored.vectors_added;
    delta.removed_deletes.vectors = stored.vectors_removed;
    delta.added_deletes.equality_files = part.equality_deletes + (part.deletes == DeleteKind::kEquality ? 1 : 0);
    if (part.deletes == DeleteKind::kVectors) delta.added_deletes.rows = part.deleted_rows;
    for (const NewFile& file : part.added) delta.added_deletes.rows += file.deleted_rows;
    return delta;
  }

  /// Of a table that was watched from its first commit on: then it was empty.
  orient::TableState& StateOf(std::uint32_t table, const Site& site) {
    if (table >= tables_.size()) tables_.resize(site.table_count());
    if (tables_[table] == nullptr) {
      tables_[table] = std::make_unique<orient::TableState>();
      tables_[table]->AbsorbScan(observe::Facts(), plan_.policy);
    }
    return *tables_[table];
  }

  Status Look(std::uint32_t table, std::uint32_t partition, TimestampMs now, Site& site) {
    orient::TableState& state = *tables_[table];
    const std::string key = KeyOf(partition);
    const auto index = state.Find(key);
    if (!state.needs_scan().empty()) return Error{Code::kInternal, "a table would be scanned: " + state.needs_scan()};
    if (!index) return Ok();
    const orient::Verdict verdict = orient::Triage(state.partition(*index), plan_.policy, now);
    if (verdict.kind == orient::VerdictKind::kQuiet) return Ok();
    site.CountNoisy();
    if (verdict.kind == orient::VerdictKind::kCalm) return Ok();
    site.Scan(table, partition);
    observe::Facts facts = FactsOf(site.world(), table, partition);
    facts.observed_at = now;
    if (plan_.check) FIRN_TRY(CheckState(state.partition(*index), facts));
    FIRN_TRY(state.AbsorbScan(facts, plan_.policy, std::span(&key, 1)));
    decide::DecideOptions options;
    options.cost = plan_.cost;
    options.refusals_max = 0;
    const orient::Diagnosis diagnosis = orient::Diagnose(facts, plan_.policy);
    FIRN_ASSIGN(const decide::Plan plan, decide::Decide(facts, diagnosis, plan_.policy, options));
    if (!plan.groups.empty()) Wait(table, partition, decide::Action::kMerge, EffectOf(plan), now, site);
    if (facts.equality_delete_files == 0) return Ok();
    const observe::DeleteFacts deletes = DeleteFactsOf(site.world(), table, partition);
    const decide::DeletePlan conversion = decide::PlanDeleteRewrite(deletes, {});
    const decide::Effect effect = decide::EffectOf(deletes, conversion);
    if (conversion.deletes.empty() || !decide::Pays(conversion, effect)) return Ok();
    Wait(table, partition, decide::Action::kRewriteDeletes, effect, now, site);
    return Ok();
  }

  void Wait(std::uint32_t table, std::uint32_t partition, decide::Action action, const decide::Effect& predicted,
            TimestampMs now, Site& site) {
    decide::Candidate candidate;
    candidate.id = JobId(table, partition, action);
    candidate.action = action;
    candidate.table = fmt::format("sim/db{}.t{}", table % 16, table);
    candidate.database = fmt::format("sim/db{}", table % 16);
    candidate.partitions = {{KeyOf(partition), fmt::format("p={}", partition)}};
    candidate.predicted = predicted;
    candidate.created_at = now;
    waiting_.push_back(std::move(candidate));
    places_.emplace_back(table, partition);
    site.Reserve(table, partition);
  }

  /// True if something starts. Not more often than a service would: many small candidates come at once.
  bool Arrange(TimestampMs now, Site& site) {
    if (waiting_.empty() || site.free_workers() == 0 || now < next_arrange_) return false;
    const decide::BacklogInput input{.candidates = waiting_,
                                     .running = running_,
                                     .workers = site.workers(),
                                     .starts_max = site.free_workers(),
                                     .now = now};
    const std::vector<decide::QueueEntry> entries = decide::Arrange(input, ledger_, breakers_);
    next_arrange_.value = now.value + kArrangeMs;
    std::vector<bool> leaves(waiting_.size());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> useless;
    for (const decide::QueueEntry& entry : entries) {
      const bool is_useless = entry.verdict == decide::Verdict::kNoBenefit;
      if (entry.verdict != decide::Verdict::kStarts && !is_useless) continue;
      leaves[entry.candidate] = true;
      const auto [table, partition] = places_[entry.candidate];
      if (is_useless) useless.emplace_back(table, partition);
      if (is_useless) continue;
      const decide::Candidate& candidate = waiting_[entry.candidate];
      ready_.push_back({table, partition, decide::MakeJob(entry, candidate, candidate.id, now)});
    }
    std::size_t kept = 0;
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      if (leaves[i]) continue;
      if (kept != i) {
        waiting_[kept] = std::move(waiting_[i]);
        places_[kept] = places_[i];
      }
      ++kept;
    }
    waiting_.resize(kept);
    places_.resize(kept);
    for (const auto& [table, partition] : useless) Free(table, partition, site);
    return !ready_.empty();
  }

  Status CheckState(const orient::PartitionState& state, const observe::Facts& facts) const {
    if (!state.is_exact()) return Ok();
    orient::FileSizeEntropy counted(plan_.policy.target_size_bytes);
    for (const observe::DataFileFacts& file : facts.files) counted.Add(file.size_bytes);
    if (state.file_count == counted.file_count() && state.size_bytes == facts.partitions[0].size_bytes &&
        orient::MeanSquaredErrorOf(state) == counted.mean_squared_error()) {
      return Ok();
    }
    return Error{Code::kInternal, fmt::format("{} {}: {} files of {} bytes are there, the state has {} of {}",
                                              facts.table, facts.partitions[0].text, counted.file_count(),
                                              facts.partitions[0].size_bytes, state.file_count, state.size_bytes)};
  }

  const PlanSettings plan_;
  const std::string what_;
  TimestampMs next_sweep_, next_arrange_;
  std::vector<std::unique_ptr<orient::TableState>> tables_;
  std::vector<decide::Candidate> waiting_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places_;  // of waiting_: table and partition
  std::deque<Started> ready_;
  std::vector<decide::RunningJob> running_;
  decide::Ledger ledger_;
  decide::Breakers breakers_;
};

}  // namespace

std::unique_ptr<MergePolicy> MakeFirnPolicy(const PolicyOptions& options) {
  return std::make_unique<FirnPolicy>(options);
}

}  // namespace firn::simulate
