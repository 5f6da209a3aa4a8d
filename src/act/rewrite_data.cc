// SPDX-License-Identifier: Apache-2.0
#include "act/rewrite_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include "act/foreign_changes.h"
#include "act/merge_pool.h"
#include "act/merge_settings.h"
#include "act/plan_base.h"
#include "act/run_journal.h"
#include "base/human_text.h"
#include "observe/manifest_scan.h"
#include "ports/location.h"

namespace firn::act {
namespace {

using Range = std::pair<std::size_t, std::size_t>;

/// The program itself, manifests that are read and written, and entries.
constexpr std::int64_t kProgramBytes = std::int64_t{64} << 20;
/// A commit is not worth its manifests for less predicted work than this.
constexpr double kCommitSeconds = 120;
/// Memory of a commit grows with the files that it removes.
constexpr std::size_t kCommitFiles = 200'000;
/// Files that are named a kind of failure; what comes after is counted.
constexpr std::int64_t kFailuresNamedMax = 20;

/// Of deleted positions that several groups need.
std::int64_t DeleteCacheBytes(std::int64_t memory_bytes) { return memory_bytes / 8; }

/// Merges at a time, and what each of them may use.
struct Workers {
  int count = 1;
  int threads = 1;
  std::int64_t memory_bytes = 0;
};

/// What the plan and its commits take beside the merges.
std::int64_t PlanBytes(const decide::Plan& plan, const observe::Facts& facts) {
  constexpr std::size_t kPartitionBytes = 300, kManifestBytes = 1200, kRemovedFileBytes = 400;
  std::size_t files = 0;
  for (const decide::MergeGroup& group : plan.groups) files += group.files.size();
  return static_cast<std::int64_t>(facts.files.size() * sizeof(observe::DataFileFacts) +
                                   facts.partitions.size() * kPartitionBytes + facts.manifests.size() * kManifestBytes +
                                   files * sizeof(std::uint32_t) + std::min(files, kCommitFiles) * kRemovedFileBytes);
}

/// As many merges at a time as threads and memory allow.
Result<Workers> WorkersOf(const decide::Plan& plan, const observe::Facts& facts, const RewriteDataOptions& options,
                          bool has_deletes) {
  const std::int64_t cache_bytes = has_deletes ? DeleteCacheBytes(options.memory_bytes) : 0;
  const std::int64_t needed = kProgramBytes + PlanBytes(plan, facts) + cache_bytes;
  const std::int64_t left = options.memory_bytes - needed;
  if (left < kMergeMemoryMin) {
    return Error{Code::kLimit, fmt::format("{} of memory are too few: this plan and one merge need {}",
                                           HumanBytes(options.memory_bytes), HumanBytes(needed + kMergeMemoryMin))};
  }
  const int threads = std::max(options.threads, 1);
  Workers workers;
  workers.count = static_cast<int>(std::min({std::int64_t{threads}, left / kMergeMemoryMin,
                                             static_cast<std::int64_t>(plan.groups.size()), std::int64_t{4096}}));
  workers.threads = std::max(1, threads / workers.count);
  workers.memory_bytes = left / workers.count;
  return workers;
}

/// Ranges of groups, each for one commit: even in files.
std::vector<Range> CommitRanges(const decide::Plan& plan, int workers, int max_commits) {
  const std::size_t groups = plan.groups.size();
  std::size_t files = 0;
  double seconds = 0;
  for (const decide::MergeGroup& group : plan.groups) {
    files += group.files.size();
    seconds += group.predicted_seconds;
  }
  const double by_time = seconds / std::max(workers, 1) / kCommitSeconds;
  const std::size_t wanted =
      std::max(static_cast<std::size_t>(std::clamp(by_time, 0.0, 1e6)), (files + kCommitFiles - 1) / kCommitFiles);
  const std::size_t count =
      std::clamp<std::size_t>(wanted, 1, std::min(groups, static_cast<std::size_t>(std::max(max_commits, 1))));
  std::vector<Range> ranges;
  std::size_t begin = 0, files_so_far = 0;
  for (std::size_t r = 0; r < count; ++r) {
    const std::size_t last = groups - (count - r - 1);  // the ranges after this one need a group each
    std::size_t end = begin;
    while (end < last && (end == begin || r + 1 == count || files_so_far * count < files * (r + 1))) {
      files_so_far += plan.groups[end++].files.size();
    }
    ranges.emplace_back(begin, end);
    begin = end;
  }
  return ranges;
}

/// kConflict if the plan's files are not where it saw them.
Status CheckPlan(const ports::LoadedTable& table, ports::FileIO& io, const decide::Plan& plan,
                 const observe::Facts& facts) {
  FIRN_TRY(CheckPlanBase(table,
                         {facts.table_uuid, facts.format_version, plan.ref, plan.base_snapshot_id, facts.snapshot_id}));
  const iceberg::Snapshot& head = *table.metadata->RefSnapshot(plan.ref);
  if (head.id == *plan.base_snapshot_id) return Ok();
  // Others have committed. That is no harm as long as the manifests with the plan's files are still there.
  FIRN_ASSIGN(const auto lines, observe::ReadManifests(io, head, *table.metadata));
  std::unordered_set<std::string_view> paths;
  for (const iceberg::ManifestFile& line : lines) paths.insert(line.manifest_path);
  for (const decide::MergeGroup& group : plan.groups) {
    for (const std::uint32_t file : group.files) {
      if (file >= facts.files.size() || facts.files[file].manifest >= facts.manifests.size()) continue;
      if (!paths.contains(facts.manifests[facts.files[file].manifest].file.manifest_path)) {
        return OutOfDate(table, "others have rewritten manifests with its files");
      }
    }
  }
  return Ok();
}

/// A plan's execution after its checks.
class Execution {
 public:
  Execution(CommitEnvironment& environment, const ports::TableIdentifier& table, const decide::Plan& plan,
            const observe::Facts& facts, const RewriteDataOptions& options)
      : env_(environment),
        table_(table),
        plan_(plan),
        facts_(facts),
        options_(options),
        pin_(environment, CommitTarget{table, facts.table_uuid, plan.ref}, plan.plan_id, *plan.base_snapshot_id) {
    for (const decide::MergeGroup& group : plan.groups) progress_.bytes_total += group.input_bytes;
    progress_.groups_total = static_cast<std::int64_t>(plan.groups.size());
  }

  Result<Outcome> Run(MergeContext context, const Workers& workers);

 private:
  void CommitRange(MergePool& pool, const Range& range, std::size_t fence, bool is_last);
  Rewrite NewRewrite(std::size_t fence) const;
  void Refuse(std::string partition, std::int64_t files, Error error, bool is_of_files = false);
  void NoteGroup(const RewriteGroup& group, const MergedGroup& done, CommitOutcome& commit);
  void AddNote(const std::string& note);
  void Remove(const MergedGroup& done);
  void Show();

  CommitEnvironment& env_;
  const ports::TableIdentifier& table_;
  const decide::Plan& plan_;
  const observe::Facts& facts_;
  const RewriteDataOptions& options_;
  PlanPin pin_;
  std::mutex mutex_;  // of progress_
  RewriteProgress progress_;
  Outcome outcome_;
  std::shared_ptr<const NamedFiles> named_files_;
};

Result<Outcome> Execution::Run(MergeContext context, const Workers& workers) {
  const std::int64_t started_ns = env_.clock.MonotonicNs();
  FIRN_TRY(pin_.Set(options_.pin, plan_.predicted_seconds / workers.count));
  outcome_.plan_id = plan_.plan_id;
  outcome_.table = plan_.table;
  for (const std::string& note : UnusedSettings(context.metadata)) AddNote(note);
  context.plan_sequence_number = plan_.base_sequence_number;
  if (context.deletes) named_files_ = {context.deletes, &context.deletes->named_files()};
  context.cancelled = env_.cancelled;
  context.options.memory_bytes = workers.memory_bytes;
  context.options.threads = workers.threads;
  if (options_.threads > 1) context.options.readers = ports::ReadersOf(context.metadata.location());
  std::optional<ForeignChanges> foreign;
  if (options_.watch_interval_ms) {
    foreign.emplace(env_, CommitTarget{table_, facts_.table_uuid, plan_.ref}, facts_.format_version,
                    *plan_.base_snapshot_id, *options_.watch_interval_ms);
    context.foreign = &*foreign;
  }

  std::vector<Range> ranges = CommitRanges(plan_, workers.count, options_.max_commits);
  progress_.commits_total = static_cast<std::int64_t>(ranges.size());
  MergePool pool(context, plan_, facts_, workers.count, env_.cancelled,
                 [this](std::int64_t bytes, std::int64_t groups) {
                   if (env_.journal != nullptr) env_.journal->BeSeen();
                   const std::lock_guard lock(mutex_);
                   progress_.bytes_done = bytes;
                   progress_.groups_done = groups;
                   Show();
                 });
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::size_t ready = pool.WaitForAny(ranges);
    CommitRange(pool, ranges[ready], ready, i + 1 == ranges.size());
    ranges[ready] = {0, 0};
    const std::lock_guard lock(mutex_);
    ++progress_.commits_done;
    Show();
  }
  if (const Status released = pin_.Release(); !released) AddNote(released.error().message);
  for (std::string& location : pool.leftovers()) outcome_.leftover_files.push_back(std::move(location));
  outcome_.seconds = static_cast<double>(env_.clock.MonotonicNs() - started_ns) * 1e-9;
  return std::move(outcome_);
}

/// With mutex_ held.
void Execution::Show() {
  if (options_.progress) options_.progress(progress_);
}

/// One line a reason: a delete file that cannot be read may concern many groups. `is_of_files`: it was found in files,
/// and not in the work or the commit; they are named, as far as anybody would read them.
void Execution::Refuse(std::string partition, std::int64_t files, Error error, bool is_of_files) {
  const bool is_refusal = is_of_files && error.code == Code::kUnsupported;
  const auto is_alike = [&](const GroupFailure& known) { return known.error.code == error.code; };
  const bool is_conflict = error.code == Code::kConflict;
  if (is_of_files && !is_conflict && std::ranges::count_if(outcome_.failures, is_alike) >= kFailuresNamedMax) {
    error.message = fmt::format("more files; the first {} of this code are named", kFailuresNamedMax);
  }
  // Conflicts stay apart: whoever plans again has to know whose files they were.
  for (GroupFailure& known : outcome_.failures) {
    if (is_conflict || !is_alike(known) || known.error.message != error.message) continue;
    if (known.partition != partition) known.partition.clear();
    known.files += files;
    return;
  }
  outcome_.failures.push_back({std::move(partition), files, std::move(error), is_refusal});
}

Rewrite Execution::NewRewrite(std::size_t fence) const {
  Rewrite rewrite;
  rewrite.plan_snapshot_id = *plan_.base_snapshot_id;
  rewrite.plan_sequence_number = plan_.base_sequence_number;
  rewrite.format_version = facts_.format_version;
  for (const observe::ManifestFacts& manifest : facts_.manifests) {
    rewrite.manifests.push_back(manifest.file.manifest_path);
  }
  rewrite.plan_id = plan_.plan_id;
  rewrite.fence = std::to_string(fence);
  rewrite.summary = PlanSummary(options_.service_id, *plan_.base_snapshot_id);
  rewrite.named_files = named_files_;
  return rewrite;
}

void Execution::Remove(const MergedGroup& done) {
  for (const AddedFile& added : done.group.added) {
    if (!env_.io.Delete(added.file.file_path)) outcome_.leftover_files.push_back(added.file.file_path);
  }
}

void Execution::AddNote(const std::string& note) {
  constexpr std::size_t kNotesMax = 16;
  const bool known = std::ranges::find(outcome_.notes, note) != outcome_.notes.end();
  if (!known && outcome_.notes.size() < kNotesMax) outcome_.notes.push_back(note);
}

void Execution::NoteGroup(const RewriteGroup& group, const MergedGroup& done, CommitOutcome& commit) {
  ++commit.groups;
  commit.files_removed += static_cast<std::int64_t>(group.removed.size());
  commit.files_added += static_cast<std::int64_t>(group.added.size());
  commit.bytes_removed += done.input_bytes;
  for (const AddedFile& added : group.added) commit.bytes_added += added.file.file_size_bytes;
  outcome_.deleted_rows += group.deleted_rows;
  outcome_.rows += done.report.rows;
  for (const std::string& note : done.report.notes) AddNote(note);
  outcome_.storage_copied_bytes += done.report.storage_copied_bytes;
  for (std::size_t t = 0; t < splice::kTierCount; ++t) {
    outcome_.tiers[t].bytes += done.report.tiers[t].bytes;
    outcome_.tiers[t].chunks += done.report.tiers[t].chunks;
  }
}

void Execution::CommitRange(MergePool& pool, const Range& range, std::size_t fence, bool is_last) {
  const bool cancelled = env_.is_cancelled();
  Rewrite rewrite = NewRewrite(fence);
  std::vector<MergedGroup> merged;
  std::int64_t cancelled_files = 0;
  for (std::size_t g = range.first; g < range.second; ++g) {
    MergedGroup done = pool.Take(g);
    const decide::MergeGroup& planned = plan_.groups[g];
    const auto files = static_cast<std::int64_t>(planned.files.size());
    const std::string& partition =
        planned.partition < facts_.partitions.size() ? facts_.partitions[planned.partition].text : plan_.table;
    if (cancelled || (done.error && done.error->code == Code::kCancelled)) {
      cancelled_files += files;
      if (!done.error) Remove(done);
    } else if (done.error) {
      Refuse(partition, files, std::move(*done.error), true);
    } else {
      for (Error& why : done.left_out) Refuse(partition, 1, std::move(why), true);
      rewrite.groups.push_back(std::move(done.group));
      merged.push_back(std::move(done));
    }
  }
  if (cancelled_files > 0) Refuse("", cancelled_files, {Code::kCancelled, "the work was cancelled"});
  if (rewrite.groups.empty()) return;

  RewriteChange change(std::move(rewrite));
  CommitTarget target{table_, facts_.table_uuid, plan_.ref};
  UnpinningChange last(change, pin_, env_.clock);
  CommitReport report = Commit(env_, target, is_last ? static_cast<Change&>(last) : change);
  for (std::string& location : report.leftover_files) outcome_.leftover_files.push_back(std::move(location));
  CommitOutcome commit;
  commit.attempts = report.attempts;
  std::vector<const Error*> refused(merged.size(), nullptr);
  for (const GroupRefusal& refusal : change.refusals()) refused[refusal.group] = &refusal.error;
  for (std::size_t i = 0; i < merged.size(); ++i) {
    const RewriteGroup& group = change.rewrite().groups[i];
    const auto files = static_cast<std::int64_t>(group.removed.size());
    if (!report.status) {
      Refuse(group.name, files, report.status.error());
    } else if (refused[i] != nullptr) {
      Refuse(group.name, files, *refused[i]);
    } else if (!report.done_before) {
      NoteGroup(group, merged[i], commit);
    }
  }
  if (!report.status || !report.snapshot_id) return;
  commit.snapshot_id = *report.snapshot_id;
  outcome_.files_removed += commit.files_removed;
  outcome_.files_added += commit.files_added;
  outcome_.bytes_removed += commit.bytes_removed;
  outcome_.bytes_added += commit.bytes_added;
  outcome_.commits.push_back(commit);
}

}  // namespace

Result<Outcome> RewriteData(CommitEnvironment& environment, const ports::TableIdentifier& table,
                            const decide::Plan& plan, const observe::Facts& facts, const RewriteDataOptions& options) {
  FIRN_ASSIGN(const ports::LoadedTable loaded, environment.catalog.LoadTable(table));
  FIRN_TRY(CheckPlan(loaded, environment.io, plan, facts));
  if (plan.groups.empty()) {
    Outcome nothing;
    nothing.plan_id = plan.plan_id;
    nothing.table = plan.table;
    return nothing;
  }
  auto context = MakeMergeContext(*loaded.metadata, environment.io, options.effort, "");
  if (!context) return std::move(context.error()).In(ToString(table));
  FIRN_TRY(CheckPlaces(environment, loaded, context->locations, "data.parquet"));
  FIRN_ASSIGN(context->deletes,
              PlanDeletes::Read(facts, environment.io, *loaded.metadata, DeleteCacheBytes(options.memory_bytes)));
  FIRN_ASSIGN(const Workers workers, WorkersOf(plan, facts, options, context->deletes != nullptr).In(ToString(table)));
  FIRN_TRY(BeginRun(environment, loaded));
  context->run_uuid = environment.NewFileUuid();
  return Execution(environment, table, plan, facts, options).Run(std::move(*context), workers);
}

}  // namespace firn::act
