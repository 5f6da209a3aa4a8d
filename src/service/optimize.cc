// SPDX-License-Identifier: Apache-2.0
#include "service/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/human_text.h"
#include "base/log.h"
#include "decide/decide.h"
#include "ports/stoppable_file_io.h"
#include "service/tidied_run.h"

namespace firn::service {
namespace {

bool IsConflict(const act::GroupFailure& failure) { return failure.error.code == Code::kConflict; }

bool IsBudget(const decide::Refusal& refusal) { return refusal.code == decide::kCodeBudget; }

template <class T>
void Append(std::vector<T>& to, std::vector<T> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// Adds a round's outcome to the sum.
void Add(act::Outcome& sum, act::Outcome round) {
  sum.plan_id = std::move(round.plan_id);
  sum.table = std::move(round.table);
  Append(sum.commits, std::move(round.commits));
  Append(sum.failures, std::move(round.failures));
  Append(sum.leftover_files, std::move(round.leftover_files));
  sum.files_removed += round.files_removed;
  sum.files_added += round.files_added;
  sum.bytes_removed += round.bytes_removed;
  sum.bytes_added += round.bytes_added;
  sum.rows += round.rows;
  sum.deleted_rows += round.deleted_rows;
  sum.storage_copied_bytes += round.storage_copied_bytes;
  for (std::size_t i = 0; i < sum.tiers.size(); ++i) {
    sum.tiers[i].bytes += round.tiers[i].bytes;
    sum.tiers[i].chunks += round.tiers[i].chunks;
  }
  constexpr std::size_t kNotesMax = 16;
  for (std::string& note : round.notes) {
    const bool known = std::ranges::find(sum.notes, note) != sum.notes.end();
    if (!known && sum.notes.size() < kNotesMax) sum.notes.push_back(std::move(note));
  }
  sum.seconds += round.seconds;
}

/// A plan that does not fit the table any more, as failures of its groups.
act::Outcome Overtaken(const Assessment& assessment, const Error& error) {
  act::Outcome outcome;
  outcome.plan_id = assessment.plan.plan_id;
  outcome.table = assessment.plan.table;
  for (const auto& group : assessment.plan.groups) {
    outcome.failures.push_back(
        {assessment.facts.partitions[group.partition].text, static_cast<std::int64_t>(group.files.size()), error});
  }
  return outcome;
}

Result<Assessment> PlanRound(TidiedRun& run, const ports::TableIdentifier& table, AssessOptions options,
                             std::int64_t bytes_used) {
  act::CommitEnvironment& environment = run.environment();
  FIRN_ASSIGN(const ports::LoadedTable loaded, environment.catalog.LoadTable(table));
  FIRN_TRY(act::CheckNoTag(*loaded.metadata, options.ref));
  FIRN_TRY(act::CheckWritable(*loaded.metadata));
  run.SeeTable(loaded);
  const TimestampMs now = environment.clock.Now();
  options.plan_id = environment.random.NewUuidV7(now);
  if (options.max_bytes) options.max_bytes = std::max<std::int64_t>(0, *options.max_bytes - bytes_used);
  // Nothing is written yet: a stop need not wait until everything is read.
  const auto io = ports::MakeStoppable(environment.io, environment.cancelled);
  return Assess(loaded, *io, options, now);
}

/// Of `failures`, those that the new plan cannot make up for because its budget of bytes leaves their files out.
std::vector<act::GroupFailure> LeftOut(std::vector<act::GroupFailure> failures, const Assessment& next) {
  if (std::ranges::none_of(next.plan.refusals, IsBudget)) return {};
  std::map<std::string, std::int64_t> uncovered;  // files a partition
  for (const act::GroupFailure& failure : failures) uncovered[failure.partition] += failure.files;
  for (const decide::MergeGroup& group : next.plan.groups) {
    uncovered[next.facts.partitions[group.partition].text] -= static_cast<std::int64_t>(group.files.size());
  }
  std::erase_if(failures, [&](const act::GroupFailure& failure) { return uncovered[failure.partition] <= 0; });
  return failures;
}

/// One plan's execution; `bytes_read` grows by the input that was read for it, committed or not.
Result<act::Outcome> Execute(act::CommitEnvironment& environment, const ports::TableIdentifier& table,
                             const Assessment& assessment, act::RewriteDataOptions options, std::int64_t& bytes_read) {
  std::int64_t round_bytes = 0;
  options.progress = [&round_bytes, show = options.progress](const act::RewriteProgress& progress) {
    round_bytes = progress.bytes_done;
    if (show) show(progress);
  };
  auto outcome = act::RewriteData(environment, table, assessment.plan, assessment.facts, options);
  bytes_read += round_bytes;
  return outcome;
}

Result<Optimized> RunRounds(TidiedRun& run, const ports::TableIdentifier& table, const OptimizeOptions& options) {
  act::CommitEnvironment& environment = run.environment();
  FIRN_ASSIGN(Assessment assessment, PlanRound(run, table, options.assess, 0));
  Optimized result;
  result.outcome.plan_id = assessment.plan.plan_id;
  result.outcome.table = assessment.plan.table;
  std::vector<act::GroupFailure> left_out;  // by the budget, after others were faster
  std::int64_t bytes_read = 0;
  for (int round = 1;; ++round) {
    if (options.planned) options.planned(round, assessment);
    const bool nothing_to_do = assessment.plan.groups.empty(), is_divided = assessment.plan.is_divided;
    if (!nothing_to_do) {
      auto outcome = Execute(environment, table, assessment, options.rewrite, bytes_read);
      if (!outcome && outcome.error().code != Code::kConflict && round == 1) return std::move(outcome.error());
      ++result.rounds;
      Add(result.outcome, outcome ? std::move(*outcome) : Overtaken(assessment, outcome.error()));
    }
    if (round == 1) result.first = std::move(assessment);
    auto& failures = result.outcome.failures;
    if (nothing_to_do || round >= options.rounds_max || environment.is_cancelled()) break;
    const bool may_go_on = failures.empty() ? is_divided : std::all_of(failures.begin(), failures.end(), IsConflict);
    if (!may_go_on) break;

    auto next = PlanRound(run, table, options.assess, bytes_read);
    if (!next) {
      failures.push_back({"", 0, std::move(next.error()).In("planning again")});
      break;
    }
    if (!failures.empty()) {
      Log(LogLevel::kInfo, fmt::format("{}: others changed files of {}: planned again", ToString(table),
                                       HumanCount(static_cast<std::int64_t>(failures.size()), "file group")));
    }
    // The new plan covers the same partitions: what it leaves out needs no merge any more, or is over the budget.
    Append(left_out, LeftOut(std::exchange(failures, {}), *next));
    assessment = std::move(*next);
  }
  Append(result.outcome.failures, std::move(left_out));
  return result;
}

}  // namespace

Result<Optimized> Optimize(act::CommitEnvironment& environment, const ports::TableIdentifier& table,
                           const OptimizeOptions& options) {
  TidiedRun run(environment, table, options.assess.ref);
  FIRN_ASSIGN(Optimized result, RunRounds(run, table, options));
  act::Outcome& outcome = result.outcome;
  AddTidied(run.End(LeavesFiles(outcome), !outcome.commits.empty()), outcome);
  return result;
}

}  // namespace firn::service
