// SPDX-License-Identifier: Apache-2.0
#include "service/rewrite_deletes.h"

#include <algorithm>
#include <utility>

#include "act/format_upgrade.h"
#include "act/plan_base.h"
#include "base/log.h"
#include "ports/stoppable_file_io.h"
#include "service/tidied_run.h"

namespace firn::service {
namespace {

bool IsConflict(const act::GroupFailure& failure) { return failure.error.code == Code::kConflict; }

/// Adds a round's outcome to the sum. Failures of earlier rounds were conflicts, which the new plan made up for.
void Add(act::DeleteOutcome& sum, act::DeleteOutcome round) {
  sum.plan_id = std::move(round.plan_id);
  sum.table = std::move(round.table);
  if (round.snapshot_id) sum.snapshot_id = round.snapshot_id;
  sum.attempts += round.attempts;
  using Count = std::int64_t act::DeleteOutcome::*;
  constexpr Count kCounts[] = {&act::DeleteOutcome::equality_files_removed,
                               &act::DeleteOutcome::position_files_removed,
                               &act::DeleteOutcome::vectors_removed,
                               &act::DeleteOutcome::position_files_added,
                               &act::DeleteOutcome::vectors_added,
                               &act::DeleteOutcome::bytes_removed,
                               &act::DeleteOutcome::bytes_added,
                               &act::DeleteOutcome::data_files_read,
                               &act::DeleteOutcome::rows_scanned,
                               &act::DeleteOutcome::rows_converted,
                               &act::DeleteOutcome::passes};
  for (const Count count : kCounts) sum.*count += round.*count;
  sum.files_kept = round.files_kept;
  sum.failures = std::move(round.failures);
  std::ranges::move(round.leftover_files, std::back_inserter(sum.leftover_files));
  sum.seconds += round.seconds;
}

/// True: it was raised.
Result<bool> Upgrade(act::CommitEnvironment& environment, const ports::TableIdentifier& table,
                     std::int32_t format_version) {
  FIRN_ASSIGN(const ports::LoadedTable loaded, environment.catalog.LoadTable(table));
  if (loaded.metadata->format_version() >= format_version) return false;
  FIRN_TRY(environment.catalog.CheckWritable(loaded));
  FIRN_TRY(act::BeginRun(environment, loaded));
  act::CommitReport report =
      act::UpgradeFormat(environment, {table, loaded.metadata->table_uuid(), "main"}, format_version);
  if (!report.status) return std::move(report.status.error()).In(ToString(table));
  return true;
}

Result<DeleteAssessment> PlanRound(TidiedRun& run, const ports::TableIdentifier& table, RewriteDeletesOptions options) {
  act::CommitEnvironment& environment = run.environment();
  FIRN_ASSIGN(const ports::LoadedTable loaded, environment.catalog.LoadTable(table));
  FIRN_TRY(act::CheckNoTag(*loaded.metadata, options.ref));
  FIRN_TRY(act::CheckWritable(*loaded.metadata));
  run.SeeTable(loaded);
  options.plan.plan_id = environment.random.NewUuidV7(environment.clock.Now());
  const auto io = ports::MakeStoppable(environment.io, environment.cancelled);
  return AssessDeletes(loaded, *io, options);
}

}  // namespace

Result<DeleteAssessment> AssessDeletes(const ports::LoadedTable& table, ports::FileIO& io,
                                       const RewriteDeletesOptions& options) {
  observe::ObserveOptions observe_options;
  observe_options.ref = options.ref;
  observe_options.threads = options.rewrite.threads;
  DeleteAssessment assessment;
  FIRN_ASSIGN(assessment.facts, observe::ObserveDeletes(table, io, observe_options));
  assessment.facts.format_version = std::max(assessment.facts.format_version, options.format_version.value_or(0));
  assessment.plan = decide::PlanDeleteRewrite(assessment.facts, options.plan);
  return assessment;
}

namespace {

Result<RewrittenDeletes> RunRounds(TidiedRun& run, const ports::TableIdentifier& table,
                                   const RewriteDeletesOptions& options) {
  act::CommitEnvironment& environment = run.environment();
  RewrittenDeletes result;
  if (options.format_version) {
    FIRN_ASSIGN(result.is_upgraded, Upgrade(environment, table, *options.format_version));
  }
  FIRN_ASSIGN(DeleteAssessment assessment, PlanRound(run, table, options));
  result.outcome.plan_id = assessment.plan.plan_id;
  result.outcome.table = assessment.plan.table;
  for (int round = 1;; ++round) {
    if (options.planned) options.planned(round, assessment);
    const bool nothing_to_do = assessment.plan.deletes.empty();
    if (!nothing_to_do) {
      auto outcome = act::RewriteDeletes(environment, table, assessment.plan, assessment.facts, options.rewrite);
      if (!outcome && outcome.error().code != Code::kConflict && round == 1) return std::move(outcome.error());
      ++result.rounds;
      if (!outcome) {
        act::DeleteOutcome overtaken;
        overtaken.plan_id = assessment.plan.plan_id;
        overtaken.table = assessment.plan.table;
        overtaken.failures.push_back({"", 0, std::move(outcome.error())});
        outcome = std::move(overtaken);
      }
      Add(result.outcome, std::move(*outcome));
    } else {
      result.outcome.failures.clear();
    }
    if (round == 1) result.first = std::move(assessment);
    const auto& failures = result.outcome.failures;
    if (nothing_to_do || round >= options.rounds_max || environment.is_cancelled()) break;
    if (failures.empty() || !std::ranges::all_of(failures, IsConflict)) break;
    Log(LogLevel::kInfo, ToString(table) + ": others changed files of the plan: planned again");
    auto next = PlanRound(run, table, options);
    if (!next) {
      result.outcome.failures.push_back({"", 0, std::move(next.error()).In("planning again")});
      break;
    }
    assessment = std::move(*next);
  }
  return result;
}

}  // namespace

Result<RewrittenDeletes> RewriteDeletes(act::CommitEnvironment& environment, const ports::TableIdentifier& table,
                                        const RewriteDeletesOptions& options) {
  TidiedRun run(environment, table, options.ref);
  FIRN_ASSIGN(RewrittenDeletes result, RunRounds(run, table, options));
  act::DeleteOutcome& outcome = result.outcome;
  AddTidied(run.End(LeavesFiles(outcome), outcome.snapshot_id.has_value()), outcome);
  return result;
}

}  // namespace firn::service
