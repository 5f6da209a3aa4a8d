// SPDX-License-Identifier: Apache-2.0
#include "service/look.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "act/commit.h"
#include "base/human_text.h"
#include "decide/plan_effect.h"
#include "observe/changes.h"
#include "orient/health_score.h"
#include "orient/partition_key.h"
#include "orient/triage.h"
#include "ports/stoppable_file_io.h"
#include "service/analyses.h"
#include "service/delete_options.h"
#include "service/file_histogram.h"
#include "service/partition_keys.h"
#include "service/partition_names.h"
#include "service/plan_candidates.h"

namespace firn::service {
namespace {

using decide::Decision;
using decide::DecisionKind;

/// A scan of so large a part reads nearly every manifest anyway, and makes everything exact.
constexpr double kFullScanShare = 0.5;
constexpr std::size_t kAlternativesMax = 8;
/// A table's owner writes some of what a reason quotes.
constexpr std::size_t kReasonBytesMax = 1'000;

class Glance {
 public:
  Glance(ports::Catalog& catalog, const LookOptions& options, Random& random, TimestampMs now, WatchedTable& table)
      : catalog_(catalog), options_(options), random_(random), now_(now), table_(table), row_(table.record.row) {}

  LookResult Run(const ports::TableIdentifier& id);

 private:
  Status LookAt(const ports::TableIdentifier& id);
  Status TakeChanges(const ports::LoadedTable& loaded, ports::FileIO& io);
  Status Judge(const ports::LoadedTable& loaded, ports::FileIO& io);
  Status Scan(const ports::LoadedTable& loaded, ports::FileIO& io, std::vector<std::string> keys, Decision why);
  void AbsorbTable(const Assessment& found);
  Status AddDeleteWork(const ports::LoadedTable& loaded, ports::FileIO& io);
  void NoteTable(const iceberg::TableMetadata& metadata);
  void NotePlan(const Assessment& assessment);
  void Fail(const Error& error);
  Decision NewDecision(DecisionKind kind, std::string code, std::string reason) const;
  CandidateBase Base() const;

  ports::Catalog& catalog_;
  const LookOptions& options_;
  Random& random_;
  const TimestampMs now_;
  WatchedTable& table_;
  TableRow& row_;
  const orient::Policy& policy_ = table_.wanted.policy;
  std::vector<std::uint32_t> touched_;
  std::string why_scan_all_;
  LookResult result_;
};

Decision Glance::NewDecision(DecisionKind kind, std::string code, std::string reason) const {
  Decision made;
  made.at = now_;
  made.table = row_.id;
  made.kind = kind;
  made.code = std::move(code);
  made.reason = std::move(reason);
  return made;
}

CandidateBase Glance::Base() const {
  const orient::ServicePolicy& wanted = table_.wanted.service;
  // Whoever made the request says which work it is for; the rest is what a sweep would have found.
  const bool is_asked = options_.cause == decide::Cause::kRequest;
  const decide::Cause cause = is_asked ? decide::Cause::kSweep : options_.cause;
  CandidateBase base{row_.id, options_.database, row_.uuid, cause, wanted.priority, now_, {}};
  if (wanted.finish_within_ms) base.deadline = TimestampMs{now_.value + *wanted.finish_within_ms};
  return base;
}

void Glance::NoteTable(const iceberg::TableMetadata& metadata) {
  row_.uuid = metadata.table_uuid();
  row_.format_version = metadata.format_version();
  table_.location = metadata.location();
  const iceberg::Snapshot* head = metadata.RefSnapshot(table_.state.ref());
  row_.last_snapshot_id = head == nullptr ? -1 : head->id.value;
  row_.last_commit_ms = head == nullptr ? 0 : head->timestamp.value;
}

/// Brings the state to the head of the branch.
Status Glance::TakeChanges(const ports::LoadedTable& loaded, ports::FileIO& io) {
  if (!table_.state.needs_scan().empty()) {
    why_scan_all_ = table_.state.needs_scan();
    return Ok();
  }
  observe::ChangesOptions changes;
  changes.ref = table_.state.ref();
  changes.since = table_.state.snapshot_id();
  changes.table_uuid = table_.state.table_uuid();
  FIRN_ASSIGN(const observe::ChangeSet set, observe::ReadChanges(loaded, io, changes));
  for (const observe::Change& change : set.changes) {
    ++(change.is_own ? result_.counts.own_commits : result_.counts.commits);
    for (const observe::PartitionDelta& delta : change.partitions) {
      CountFiles(delta, table_.record.histogram);
    }
  }
  touched_ = table_.state.Apply(set, policy_, now_).touched;
  result_.counts.partitions_changed += static_cast<std::int64_t>(touched_.size());
  why_scan_all_ = table_.state.needs_scan();
  if (why_scan_all_.empty()) why_scan_all_ = table_.state.WhyScanAll(policy_, now_);
  return Ok();
}

/// Which partitions have to be read, and why not the others.
Status Glance::Judge(const ports::LoadedTable& loaded, ports::FileIO& io) {
  if (options_.is_full && why_scan_all_.empty()) {
    const bool is_asked = options_.cause == decide::Cause::kRequest;
    why_scan_all_ = is_asked ? "it was asked for" : "work is left from before";
  }
  if (table_.needs_full && why_scan_all_.empty())
    why_scan_all_ = "its settings have changed, or it could not be read before";
  if (!why_scan_all_.empty()) {
    return Scan(loaded, io, {},
                NewDecision(DecisionKind::kScan, "table", "Everything is read: " + why_scan_all_ + "."));
  }
  std::vector<std::string> keys;
  std::optional<orient::Verdict> calmest, worst;  // of those left alone; of those that are scanned
  std::int64_t pending = 0;
  std::string worst_text;
  std::size_t next_touched = 0;
  const auto count = static_cast<std::uint32_t>(table_.state.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    const orient::PartitionState& state = table_.state.partition(i);
    const bool is_touched = next_touched < touched_.size() && touched_[next_touched] == i;
    next_touched += is_touched;
    if (state.pending_since == 0 && state.is_exact()) continue;
    ++pending;
    orient::Verdict verdict = orient::Triage(state, policy_, now_);
    // It was read as it is now: reading it again would find the same.
    const bool is_known = state.is_exact() && state.last_scan >= state.last_change && !verdict.noise.is_overdue;
    if (verdict.kind == orient::VerdictKind::kScan && !is_touched && is_known) continue;
    result_.counts.partitions_noisy += is_touched && verdict.kind != orient::VerdictKind::kQuiet;
    auto& kept = verdict.kind == orient::VerdictKind::kScan ? worst : calmest;
    const bool is_worse = !kept || kept->noise.total() < verdict.noise.total();
    if (verdict.kind == orient::VerdictKind::kScan) {
      keys.emplace_back(table_.state.key(i));
      if (is_worse) worst_text = table_.text_of(keys.back());
    }
    if (is_worse) kept = std::move(verdict);
  }
  if (keys.empty()) {
    if (touched_.empty()) return Ok();
    Decision decision =
        NewDecision(DecisionKind::kNothingToDo, calmest ? std::string(VerdictName(calmest->kind)) : "own",
                    calmest ? "The noisiest of its changed partitions: " + calmest->reason + "."
                            : "Only firn itself has changed it.");
    decision.inputs = {{"partitions changed", static_cast<double>(touched_.size())},
                       {"partitions pending", static_cast<double>(pending)}};
    if (calmest) decision.inputs.emplace_back("noise", calmest->noise.total());
    result_.decisions.push_back(std::move(decision));
    return Ok();
  }
  Decision why = NewDecision(
      DecisionKind::kScan, "noise",
      fmt::format("{} read; the noisiest{}: {}.", HumanCount(static_cast<std::int64_t>(keys.size()), "partition"),
                  worst_text.empty() ? "" : ", " + worst_text, worst->reason));
  why.inputs = {{"partitions changed", static_cast<double>(touched_.size())},
                {"partitions pending", static_cast<double>(pending)},
                {"noise", worst->noise.total()},
                {"removable files", static_cast<double>(worst->removable_files)},
                {"entropy", worst->entropy}};
  result_.counts.partition_scans += static_cast<std::int64_t>(keys.size());
  if (calmest)
    why.alternatives.push_back({"read its other partitions as well", calmest->noise.total(), calmest->reason});
  if (static_cast<double>(keys.size()) > kFullScanShare * count) keys.clear();
  return Scan(loaded, io, std::move(keys), std::move(why));
}

/// `keys`: partitions; empty: all.
Status Glance::Scan(const ports::LoadedTable& loaded, ports::FileIO& io, std::vector<std::string> keys, Decision why) {
  AssessOptions assess;
  assess.ref = table_.state.ref();
  assess.policy = policy_;
  assess.plan_id = random_.NewUuidV7(now_);
  assess.threads = options_.threads;
  PartitionKeys wanted;
  for (const std::string& key : keys) wanted.Add(key);
  if (!keys.empty()) assess.keys = &wanted;
  FIRN_ASSIGN(const Assessment found, Assess(loaded, io, assess, now_));
  // Before the state forgets how often they were written.
  result_.candidates = CandidatesOf(found, table_.state, Base(), random_);
  if (keys.empty()) {
    AbsorbTable(found);
  } else {
    FIRN_TRY(table_.state.AbsorbScan(found.facts, policy_, keys));
  }
  const auto scanned = static_cast<std::int64_t>(keys.empty() ? found.facts.partitions.size() : keys.size());
  why.inputs.emplace_back("partitions read", static_cast<double>(scanned));
  why.inputs.emplace_back("manifest entries read", static_cast<double>(found.facts.manifest_entries_read));
  result_.decisions.push_back(std::move(why));
  NotePlan(found);
  result_.scanned_keys = std::move(keys);
  return AddDeleteWork(loaded, io);
}

void Glance::AbsorbTable(const Assessment& found) {
  table_.state.AbsorbScan(found.facts, policy_);
  ++result_.counts.table_scans;
  SetHistogram(found.facts, !table_.has_histogram, table_.record.histogram);
  table_.has_histogram = true;
  table_.needs_full = !policy_.enabled;
  result_.is_full = true;
  table_.score_excess.reset();
  row_.score = found.diagnosis.score;
}

/// Why there is nothing to merge, where there is nothing.
void Glance::NotePlan(const Assessment& assessment) {
  if (!assessment.plan.groups.empty()) return;
  const bool is_off = !policy_.enabled;
  Decision decision =
      NewDecision(is_off ? DecisionKind::kRefused : DecisionKind::kNothingToDo,
                  is_off ? std::string(decide::kCodeDisabled) : "no-merge",
                  is_off ? fmt::format("Nothing is planned: {}.", WhyDisabled(table_.wanted)) : assessment.plan.reason);
  decision.inputs = {{"files", static_cast<double>(assessment.diagnosis.file_count)},
                     {"small files", static_cast<double>(assessment.diagnosis.small_files)},
                     {"removable files", static_cast<double>(assessment.diagnosis.removable_files)},
                     {"entropy", assessment.diagnosis.entropy}};
  for (const decide::Refusal& refusal : assessment.plan.refusals) {
    if (decision.alternatives.size() >= kAlternativesMax) break;
    decision.alternatives.push_back({refusal.partition.empty() ? "merge" : "merge " + refusal.partition,
                                     static_cast<double>(refusal.files), refusal.reason});
  }
  result_.decisions.push_back(std::move(decision));
}

Status Glance::AddDeleteWork(const ports::LoadedTable& loaded, ports::FileIO& io) {
  std::int64_t deletes = 0;
  for (std::uint32_t i = 0; i < table_.state.size(); ++i) deletes += orient::DeleteFilesOf(table_.state.partition(i));
  if (deletes == 0 || !policy_.enabled) return Ok();
  RewriteDeletesOptions rewrite{.ref = table_.state.ref()};
  FIRN_ASSIGN(rewrite.plan, DeleteRewriteOptionsOf(*loaded.metadata, policy_));
  FIRN_ASSIGN(const DeleteAssessment assessment, AssessDeletes(loaded, io, rewrite));
  const bool is_empty = assessment.plan.deletes.empty();
  decide::Candidate found = CandidateOf(assessment, Base(), random_);
  const auto opens = static_cast<double>(found.predicted.delete_reads_saved);
  if (!is_empty && (options_.cause == decide::Cause::kRequest || decide::Pays(assessment.plan, found.predicted))) {
    result_.candidates->push_back(std::move(found));
    return Ok();
  }
  Decision decision = NewDecision(DecisionKind::kNothingToDo, is_empty ? "no-deletes" : "few-deletes",
                                  is_empty ? assessment.plan.reason : std::string(kFewDeletes));
  decision.action = ActionName(decide::Action::kRewriteDeletes);
  decision.inputs = {{"delete files", static_cast<double>(deletes)}, {"opens saved", opens}};
  result_.decisions.push_back(std::move(decision));
  return Ok();
}

Status Glance::LookAt(const ports::TableIdentifier& id) {
  auto found = catalog_.LoadTable(id);
  result_.is_gone = !found && found.error().code == Code::kNotFound;
  FIRN_ASSIGN(const ports::LoadedTable loaded, std::move(found));
  FIRN_ASSIGN(const auto storage, catalog_.TableIO(loaded));
  const std::string uuid = loaded.metadata->table_uuid();
  std::unique_ptr<ports::FileIO> cached;
  if (options_.manifests != nullptr) {
    cached = ports::MakeCached(*storage, *options_.manifests, row_.id + '\n' + uuid);
  }
  const auto io = ports::MakeStoppable(cached ? *cached : *storage, options_.cancelled);
  if (!row_.uuid.empty() && row_.uuid != uuid) {
    table_.state.Reset("another table has the name now");
    table_.has_histogram = false;
    row_.score = kNoScore;
    SumPartitions(now_, table_);
    table_.record.savings = {};
    result_.is_replaced = true;
  }
  NoteTable(*loaded.metadata);
  table_.text_of = PartitionNames(*loaded.metadata);
  result_.other_service = FindOtherService(*loaded.metadata, options_.service_id, now_, table_.others);
  FIRN_TRY(act::CheckWritable(*loaded.metadata));
  FIRN_ASSIGN(TableSettings wanted, SettingsOf(options_.settings_of, row_.id, *loaded.metadata));
  NoteApplied(table_.has_settings ? &table_.wanted : nullptr, wanted, row_.id, now_, result_.decisions);
  // What was not worth doing may be so now, and the other way round.
  if (table_.has_settings && wanted.policy != table_.wanted.policy) table_.needs_full = true;
  table_.wanted = std::move(wanted);
  table_.has_settings = true;
  row_.priority = table_.wanted.service.priority;
  // After a restart: what was shown was of the state as it was saved.
  if (!table_.score_excess && table_.state.needs_scan().empty()) SumPartitions(now_, table_);
  FIRN_TRY(TakeChanges(loaded, *io));
  FIRN_TRY(Judge(loaded, *io));
  SumPartitions(now_, table_);
  return Ok();
}

/// What was known stays: a catalog that is down says nothing about the table.
void Glance::Fail(const Error& error) {
  ++table_.failures;
  result_.error = error;
  const auto state = result_.is_gone ? TableRow::State::kDropped : TableRow::State::kUnreadable;
  const std::string reason = error.message.substr(0, kReasonBytesMax);
  const bool is_news = row_.state != state || row_.state_reason != reason;
  row_.state = state;
  row_.state_reason = reason;
  if (result_.is_gone && table_.gone_ms == 0) table_.gone_ms = now_.value;
  if (error.code != Code::kUnavailable) {
    result_.candidates.emplace();
    table_.needs_full = true;
  }
  if (!is_news) return;
  const DecisionKind kind = result_.is_gone ? DecisionKind::kCancelled : DecisionKind::kRefused;
  result_.decisions.push_back(NewDecision(kind, std::string(CodeName(error.code)), reason));
}

LookResult Glance::Run(const ports::TableIdentifier& id) {
  const TableRow before = row_;
  const Status looked = LookAt(id);
  if (!looked && looked.error().code == Code::kCancelled) {
    LookResult stopped;
    stopped.error = looked.error();
    return stopped;
  }
  row_.last_looked_ms = now_.value;
  if (!looked) {
    Fail(looked.error());
    return std::move(result_);
  }
  table_.failures = table_.gone_ms = 0;
  if (row_.state == TableRow::State::kUnreadable || row_.state == TableRow::State::kDropped) {
    row_.state = TableRow::State::kOk;
    row_.state_reason.clear();
  }
  if (row_.files != before.files || row_.bytes != before.bytes || before.last_looked_ms == 0) {
    result_.trend = TrendPoint{now_.value, row_.files, row_.bytes, row_.entropy};
  }
  result_.is_unchanged = before.last_looked_ms != 0 && !result_.trend && result_.decisions.empty() &&
                         before.last_snapshot_id == row_.last_snapshot_id && before.state == row_.state;
  return std::move(result_);
}

}  // namespace

LookResult Look(ports::Catalog& catalog, const ports::TableIdentifier& id, const LookOptions& options, Random& random,
                TimestampMs now, WatchedTable& table) {
  return Glance(catalog, options, random, now, table).Run(id);
}

void SumPartitions(TimestampMs now, WatchedTable& table) {
  const orient::Policy& policy = table.wanted.policy;
  TableRow& row = table.record.row;
  row.files = row.bytes = row.small_files = row.removable_files = row.delete_files = row.noisy_partitions = 0;
  row.partitions = 0;
  double squares = 0;
  std::int64_t equality = 0;
  for (std::uint32_t i = 0; i < table.state.size(); ++i) {
    const orient::PartitionState& state = table.state.partition(i);
    row.files += state.file_count;
    row.bytes += state.size_bytes;
    row.small_files += orient::SmallFilesOf(state);
    row.removable_files += orient::RemovableFilesOf(state, policy.target_size_bytes);
    row.delete_files += orient::DeleteFilesOf(state);
    equality += state.equality_delete_files;
    row.partitions += state.file_count > 0;
    row.noisy_partitions += orient::MeasureNoise(state, policy, now).is_above();
    squares += orient::MeanSquaredErrorOf(state) * state.file_count;
  }
  const auto target = static_cast<double>(policy.target_size_bytes);
  row.entropy = row.files == 0 ? 0 : std::sqrt(squares / static_cast<double>(row.files)) / target;
  const double estimate =
      orient::EstimateScore(static_cast<double>(row.files), static_cast<double>(row.removable_files),
                            static_cast<double>(row.delete_files - equality), static_cast<double>(equality));
  if (row.score < 0) return;
  if (!table.score_excess) table.score_excess = row.score - estimate;
  row.score = std::clamp(estimate + *table.score_excess, 0.0, 100.0);
}

Result<TableSettings> SettingsOf(const TableSettingsOf& settings_of, const std::string& table,
                                 const iceberg::TableMetadata& metadata) {
  if (settings_of) return settings_of(table, metadata);
  return ResolveTable({}, table, metadata.properties(), {});
}

}  // namespace firn::service
