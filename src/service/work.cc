// SPDX-License-Identifier: Apache-2.0
#include "service/work.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human_text.h"
#include "decide/plan_effect.h"
#include "ports/thread_time.h"
#include "service/analyses.h"
#include "service/analysis_json.h"
#include "service/analysis_notes.h"
#include "service/analyze.h"
#include "service/delete_options.h"
#include "service/optimize.h"
#include "service/partition_keys.h"
#include "service/rewrite_deletes.h"

namespace firn::service {
namespace {

constexpr std::int64_t kWatchIntervalMs = 10'000;
constexpr std::size_t kAnalysisBytesMax = 256 << 10;

/// `number`, as far as `done` of `planned` was done.
std::int64_t Done(std::int64_t number, std::int64_t done, std::int64_t planned) {
  if (planned <= 0) return 0;
  const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(planned));
  return std::llround(part * static_cast<double>(number));
}

/// Opens of delete files that are saved, as far as the plan was carried out.
std::int64_t DeleteReadsSaved(const Optimized& done) {
  decide::Effect planned;
  for (const decide::MergeGroup& group : done.first.plan.groups) planned += decide::EffectOf(group);
  return Done(planned.delete_reads_saved, done.outcome.files_removed, planned.files_replaced);
}

class Work {
 public:
  Work(const decide::Candidate& candidate, ports::Catalog& catalog, const ports::TableIdentifier& table,
       const WorkOptions& options, ports::Clock& clock, Random& random)
      : candidate_(candidate), catalog_(catalog), table_(table), options_(options), clock_(clock), random_(random) {
    for (const decide::CandidatePartition& partition : candidate.partitions) keys_.Add(partition.key);
  }

  WorkResult Run() {
    const std::int64_t started_ns = clock_.MonotonicNs();
    if (Status done = Try(); !done) result_.status = std::move(done);
    result_.measured.seconds = static_cast<double>(clock_.MonotonicNs() - started_ns) / 1e9;
    return std::move(result_);
  }

 private:
  Status Try();
  Status Merge(act::CommitEnvironment& environment, const orient::Policy& policy);
  Status RewriteDeleteFiles(act::CommitEnvironment& environment, const ports::LoadedTable& loaded,
                            const orient::Policy& policy);
  Status FindOut(const ports::LoadedTable& loaded, ports::FileIO& io, const TableSettings& wanted);
  void NoteFailures(const std::vector<act::GroupFailure>& failures);
  template <class Outcome>
  void NoteTidied(const Outcome& outcome);

  const decide::Candidate& candidate_;
  ports::Catalog& catalog_;
  const ports::TableIdentifier& table_;
  const WorkOptions& options_;
  ports::Clock& clock_;
  Random& random_;
  PartitionKeys keys_;
  WorkResult result_;
};

void Work::NoteFailures(const std::vector<act::GroupFailure>& failures) {
  result_.failures = static_cast<std::int64_t>(failures.size());
  if (failures.empty()) return;
  // Which one tells what became of the work: an unknown outcome before a stop, and that before anything else.
  const auto rank = [](const act::GroupFailure& failure) {
    return failure.error.code == Code::kOutcomeUnknown ? 0 : failure.error.code == Code::kCancelled ? 1 : 2;
  };
  const act::GroupFailure& first = *std::ranges::min_element(failures, {}, rank);
  result_.status = Error{first.error.code,
                         first.partition.empty() ? first.error.message : first.partition + ": " + first.error.message};
}

/// Notes of an outcome, and what became of files of earlier runs.
template <class Outcome>
void Work::NoteTidied(const Outcome& outcome) {
  result_.notes = outcome.notes;
  if (outcome.leftovers_removed > 0) {
    result_.notes.push_back(
        fmt::format("removed {} of a run that was killed", HumanCount(outcome.leftovers_removed, "file")));
  }
  if (!outcome.leftover_files.empty()) {
    result_.notes.push_back(fmt::format("{} may not be needed, such as {}",
                                        HumanCount(static_cast<std::int64_t>(outcome.leftover_files.size()), "file"),
                                        outcome.leftover_files.front()));
  }
}

Status Work::Merge(act::CommitEnvironment& environment, const orient::Policy& policy) {
  OptimizeOptions optimize;
  optimize.assess.policy = policy;
  optimize.assess.threads = options_.threads;
  optimize.assess.max_bytes = options_.max_bytes;
  if (!keys_.empty()) optimize.assess.keys = &keys_;
  optimize.rewrite.threads = options_.threads;
  optimize.rewrite.memory_bytes = options_.memory_bytes;
  optimize.rewrite.effort = policy.effort;
  optimize.rewrite.service_id = options_.service_id;
  optimize.rewrite.watch_interval_ms = kWatchIntervalMs;
  optimize.planned = [this](int, const Assessment& found) {
    result_.plan_id = found.plan.plan_id;
    if (options_.planned) options_.planned(found.plan.plan_id);
  };
  optimize.rewrite.progress = [this](const act::RewriteProgress& now) {
    if (options_.progress && now.bytes_total > 0) {
      options_.progress(static_cast<double>(now.bytes_done) / static_cast<double>(now.bytes_total));
    }
  };
  FIRN_ASSIGN(const Optimized done, Optimize(environment, table_, optimize));
  result_.commits = static_cast<std::int64_t>(done.outcome.commits.size());
  for (const act::CommitOutcome& commit : done.outcome.commits) result_.retries += commit.attempts - 1;
  result_.measured.files_removed = done.outcome.files_removed - done.outcome.files_added;
  result_.measured.files_replaced = done.outcome.files_removed;
  result_.measured.bytes = done.outcome.bytes_removed;
  result_.measured.delete_reads_saved = DeleteReadsSaved(done);
  NoteTidied(done.outcome);
  if (done.rounds == 0) result_.notes.push_back(done.first.plan.reason);
  NoteFailures(done.outcome.failures);
  return Ok();
}

Status Work::RewriteDeleteFiles(act::CommitEnvironment& environment, const ports::LoadedTable& loaded,
                                const orient::Policy& policy) {
  RewriteDeletesOptions rewrite;
  FIRN_ASSIGN(rewrite.plan, DeleteRewriteOptionsOf(*loaded.metadata, policy));
  rewrite.rewrite.threads = options_.threads;
  rewrite.rewrite.memory_bytes = options_.memory_bytes;
  rewrite.rewrite.service_id = options_.service_id;
  rewrite.planned = [this](int, const DeleteAssessment& found) {
    result_.plan_id = found.plan.plan_id;
    if (options_.planned) options_.planned(found.plan.plan_id);
  };
  rewrite.rewrite.progress = [this](std::int64_t done_bytes, std::int64_t total_bytes) {
    if (options_.progress && total_bytes > 0) {
      options_.progress(static_cast<double>(done_bytes) / static_cast<double>(total_bytes));
    }
  };
  FIRN_ASSIGN(const RewrittenDeletes done, RewriteDeletes(environment, table_, rewrite));
  result_.commits = done.outcome.snapshot_id ? 1 : 0;
  result_.retries = std::max(0, done.outcome.attempts - 1);
  const act::DeleteOutcome& outcome = done.outcome;
  result_.measured.delete_files_removed =
      outcome.equality_files_removed + outcome.position_files_removed + outcome.vectors_removed;
  const decide::Effect planned = decide::EffectOf(done.first.facts, done.first.plan);
  result_.measured.delete_reads_saved =
      Done(planned.delete_reads_saved, result_.measured.delete_files_removed, planned.delete_files_removed);
  result_.delete_files_added = outcome.position_files_added + outcome.vectors_added;
  result_.measured.bytes = done.outcome.bytes_removed;
  NoteTidied(done.outcome);
  if (done.rounds == 0) result_.notes.push_back(done.first.plan.reason);
  NoteFailures(done.outcome.failures);
  return Ok();
}

/// What firn.analyze.apply would put into force: only what was measured changes anything; a size that is in force
/// already stays until another one is better.
std::int64_t ProposedTarget(const Analysis& found, const TableSettings& wanted) {
  const bool is_measured = found.experiment.done || (found.earlier && found.earlier->says_cost());
  if (found.advice.change_target && is_measured) return found.advice.target_size_bytes;
  return AppliedTarget(wanted).empty() ? 0 : wanted.policy.target_size_bytes;
}

Status Work::FindOut(const ports::LoadedTable& loaded, ports::FileIO& io, const TableSettings& wanted) {
  AnalyzeOptions analyze;
  analyze.assess.policy = wanted.policy;
  analyze.assess.threads = options_.threads;
  analyze.sample.bytes_max = kServiceSampleBytes;
  analyze.sample.scratch = options_.scratch;
  analyze.sample.memory_bytes = std::min(analyze.sample.memory_bytes, options_.memory_bytes);
  analyze.sample.seed = random_.Next();
  analyze.sample.clock = &clock_;
  analyze.sample.thread_cpu_ns = ports::ThreadCpuNs;
  analyze.sample.cancelled = options_.cancelled;
  analyze.sample.progress = [this](std::int64_t done, std::int64_t total) {
    if (options_.progress && total > 0) options_.progress(static_cast<double>(done) / static_cast<double>(total));
  };
  if (options_.earlier) {
    FIRN_ASSIGN(analyze.earlier, options_.earlier());
  }
  FIRN_ASSIGN(const Analysis found, Analyze(loaded, io, analyze, clock_.Now()));
  result_.measured.bytes = found.experiment.bytes;
  result_.notes.push_back(Summary(found));
  AnalysisRow row;
  row.table = candidate_.table;
  row.uuid = loaded.metadata->table_uuid();
  row.made_ms = clock_.Now().value;
  row.word = decide::AdviceWord(found.advice);
  row.proposed_target_bytes = ProposedTarget(found, wanted);
  json::Value value = ToJson(found);
  row.json = json::Write(value);
  // Names of columns are the table's; all the rest is small.
  if (row.json.size() > kAnalysisBytesMax) {
    value.Set("sort_candidates", json::Value::Array());
    row.json = json::Write(value);
  }
  result_.analysis = std::move(row);
  return Ok();
}

Status Work::Try() {
  FIRN_ASSIGN(const ports::LoadedTable loaded, catalog_.LoadTable(table_));
  if (!candidate_.table_uuid.empty() && loaded.metadata->table_uuid() != candidate_.table_uuid) {
    return Error{Code::kConflict, "another table has the name now"};
  }
  FIRN_ASSIGN(const auto io, catalog_.TableIO(loaded));
  FIRN_ASSIGN(const TableSettings wanted, SettingsOf(options_.settings_of, candidate_.table, *loaded.metadata));
  if (candidate_.action == decide::Action::kAnalyze) return FindOut(loaded, *io, wanted);
  const orient::Policy& policy = wanted.policy;
  act::CommitEnvironment environment{catalog_, *io, clock_, random_, {}, options_.cancelled, options_.processes};
  if (candidate_.action == decide::Action::kRewriteDeletes) return RewriteDeleteFiles(environment, loaded, policy);
  return Merge(environment, policy);
}

}  // namespace

WorkResult DoWork(const decide::Candidate& candidate, ports::Catalog& catalog, const ports::TableIdentifier& table,
                  const WorkOptions& options, ports::Clock& clock, Random& random) {
  return Work(candidate, catalog, table, options, clock, random).Run();
}

}  // namespace firn::service
