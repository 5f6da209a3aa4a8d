// SPDX-License-Identifier: Apache-2.0
#include "act/rewrite_deletes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "act/delete_batches.h"
#include "act/delete_change.h"
#include "act/plan_base.h"
#include "act/run_journal.h"
#include "base/human_text.h"
#include "base/log.h"
#include "decide/plan_effect.h"

namespace firn::act {
namespace {

/// What is left for reading, beside the program itself and what is known of the table.
Result<std::int64_t> WorkBytes(const observe::DeleteFacts& facts, const RewriteDeletesOptions& options) {
  constexpr std::int64_t kProgramBytes = std::int64_t{64} << 20, kWorkBytesMin = std::int64_t{32} << 20;
  constexpr std::size_t kTargetBytes = 400, kDeleteBytes = 1024;
  const std::int64_t needed = kProgramBytes + static_cast<std::int64_t>(facts.targets.size() * kTargetBytes +
                                                                        facts.deletes.entries().size() * kDeleteBytes);
  if (options.memory_bytes - needed >= kWorkBytesMin) return options.memory_bytes - needed;
  return Error{Code::kLimit, fmt::format("{} of memory are too few: these deletes need at least {}",
                                         HumanBytes(options.memory_bytes), HumanBytes(needed + kWorkBytesMin))};
}

/// One plan's execution after its checks.
class Execution {
 public:
  Execution(CommitEnvironment& environment, const ports::TableIdentifier& table, const decide::DeletePlan& plan,
            const observe::DeleteFacts& facts, const RewriteDeletesOptions& options, std::int64_t work_bytes)
      : env_(environment),
        table_(table),
        plan_(plan),
        facts_(facts),
        options_(options),
        work_bytes_(work_bytes),
        pin_(environment, CommitTarget{table, facts.table_uuid, plan.ref}, plan.plan_id, *plan.base_snapshot_id) {}

  Result<DeleteOutcome> Run(const iceberg::TableMetadata& metadata);

 private:
  Status Read(const iceberg::TableMetadata& metadata);
  void Commit();
  void NoteConflicts(const DeleteChange& change);
  void NoteCommit(const CommitReport& report, const DeleteChange& change);
  void Remove(const std::vector<std::string>& files);
  void Refuse(Error error) { outcome_.failures.push_back({"", 0, std::move(error)}); }

  CommitEnvironment& env_;
  const ports::TableIdentifier& table_;
  const decide::DeletePlan& plan_;
  const observe::DeleteFacts& facts_;
  const RewriteDeletesOptions& options_;
  std::int64_t work_bytes_;
  PlanPin pin_;
  DeleteBatches batches_;
  DeleteOutcome outcome_;
};

Status Execution::Read(const iceberg::TableMetadata& metadata) {
  DeleteBatchOptions options;
  options.threads = options_.threads;
  options.memory_bytes = work_bytes_;
  options.batch_files_max = options_.batch_files_max;
  options.cancelled = env_.cancelled;
  options.progress = [this](std::int64_t done_bytes, std::int64_t total_bytes) {
    if (env_.journal != nullptr) env_.journal->BeSeen();
    if (options_.progress) options_.progress(done_bytes, total_bytes);
  };
  const Status read =
      ReadAndWriteDeletes(facts_, plan_, metadata, env_.io, [this] { return env_.NewFileUuid(); }, options, batches_);
  outcome_.data_files_read = static_cast<std::int64_t>(batches_.read.size());
  outcome_.rows_scanned = batches_.statistics.data_rows_read;
  outcome_.passes = batches_.statistics.passes;
  outcome_.failures = std::move(batches_.failures);
  return read;
}

void Execution::Remove(const std::vector<std::string>& files) {
  for (const std::string& location : files) {
    if (!env_.io.Delete(location)) outcome_.leftover_files.push_back(location);
  }
}

Result<DeleteOutcome> Execution::Run(const iceberg::TableMetadata& metadata) {
  const std::int64_t started_ns = env_.clock.MonotonicNs();
  FIRN_TRY(pin_.Set(options_.pin, decide::PredictSeconds(plan_) / std::max(options_.threads, 1)));
  outcome_.plan_id = plan_.plan_id;
  outcome_.table = plan_.table;
  if (Status read = Read(metadata); read) {
    Commit();
  } else {
    Remove(batches_.files);
    Refuse(std::move(read.error()));
  }
  if (const Status released = pin_.Release(); !released) {
    Log(LogLevel::kWarn, fmt::format("{}: {}", plan_.table, ToString(released.error())));
  }
  outcome_.seconds = static_cast<double>(env_.clock.MonotonicNs() - started_ns) * 1e-9;
  return std::move(outcome_);
}

void Execution::Commit() {
  DeleteRewrite rewrite{facts_, plan_, {}, {}, {}, {}, {}, {}};
  rewrite.read = std::move(batches_.read);
  rewrite.written = std::move(batches_.written);
  rewrite.files = std::move(batches_.files);
  rewrite.kept = std::move(batches_.kept);
  rewrite.dangling = std::move(batches_.dangling);
  rewrite.summary = PlanSummary(options_.service_id, *plan_.base_snapshot_id);
  DeleteChange change(std::move(rewrite));
  if (!change.has_work()) {
    outcome_.files_kept = static_cast<std::int64_t>(plan_.deletes.size());
    return Remove(change.own_files());
  }
  UnpinningChange last(change, pin_, env_.clock);
  CommitReport report = act::Commit(env_, {table_, facts_.table_uuid, plan_.ref}, last);
  for (std::string& location : report.leftover_files) outcome_.leftover_files.push_back(std::move(location));
  outcome_.attempts = report.attempts;
  if (!report.status) return Refuse(std::move(report.status.error()));
  if (report.done_before) return;
  NoteConflicts(change);
  NoteCommit(report, change);
}

/// One line a partition.
void Execution::NoteConflicts(const DeleteChange& change) {
  std::map<std::uint32_t, GroupFailure> failures;
  for (const DeleteChange::Conflict& conflict : change.done().conflicts) {
    const std::uint32_t partition = facts_.targets[change.rewrite().read[conflict.read].target].partition;
    const auto [failure, is_new] =
        failures.try_emplace(partition, GroupFailure{facts_.partitions[partition].text, 0, conflict.error});
    ++failure->second.files;
  }
  for (auto& [partition, failure] : failures) outcome_.failures.push_back(std::move(failure));
}

void Execution::NoteCommit(const CommitReport& report, const DeleteChange& change) {
  const DeleteChange::Done& done = change.done();
  const SnapshotCounts& counts = done.counts;
  outcome_.snapshot_id = report.snapshot_id;
  outcome_.equality_files_removed = counts.removed_equality_delete_files;
  outcome_.position_files_removed = counts.removed_position_delete_files;
  outcome_.vectors_removed = counts.removed_dvs;
  outcome_.position_files_added = counts.added_position_delete_files;
  outcome_.vectors_added = counts.added_dvs;
  outcome_.bytes_removed = counts.removed_files_size;
  outcome_.bytes_added = counts.added_files_size;
  outcome_.files_kept = done.kept;
  outcome_.rows_converted = batches_.rows_converted;
}

}  // namespace

Result<DeleteOutcome> RewriteDeletes(CommitEnvironment& environment, const ports::TableIdentifier& table,
                                     const decide::DeletePlan& plan, const observe::DeleteFacts& facts,
                                     const RewriteDeletesOptions& options) {
  FIRN_ASSIGN(const ports::LoadedTable loaded, environment.catalog.LoadTable(table));
  if (plan.deletes.empty()) {
    DeleteOutcome nothing;
    nothing.plan_id = plan.plan_id;
    nothing.table = plan.table;
    return nothing;
  }
  FIRN_TRY(CheckPlanBase(loaded,
                         {facts.table_uuid, plan.format_version, plan.ref, plan.base_snapshot_id, facts.snapshot_id}));
  FIRN_ASSIGN(const DataLocations locations, DataLocations::For(*loaded.metadata));
  FIRN_TRY(CheckPlaces(environment, loaded, locations, "deletes.puffin"));
  FIRN_ASSIGN(const std::int64_t work_bytes, WorkBytes(facts, options).In(ToString(table)));
  FIRN_TRY(BeginRun(environment, loaded));
  return Execution(environment, table, plan, facts, options, work_bytes).Run(*loaded.metadata);
}

}  // namespace firn::act
