// SPDX-License-Identifier: Apache-2.0
#include "service/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/human_text.h"
#include "iceberg/ancestors.h"
#include "ports/location.h"
#include "service/analysis_notes.h"
#include "service/column_bounds.h"
#include "service/key_ranges.h"

namespace firn::service {
namespace {

constexpr double kObjectRequestSeconds = 0.03;
/// Smaller gains are not worth a word.
constexpr double kSortGainSeen = 0.01;
constexpr std::size_t kSnapshotsMax = 1'000;
constexpr double kMergeRateMin = 1e6, kMergeRateMax = 1e10;  // bytes a second; beyond them the clock was the cause

std::int64_t NumberIn(const iceberg::Snapshot& snapshot, std::string_view key) {
  const std::string* text = snapshot.FindSummary(key);
  std::int64_t value = 0;
  if (text == nullptr) return 0;
  const auto [end, failed] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (failed != std::errc() || end != text->data() + text->size() || value < 0) return 0;
  return value;
}

std::string SchemeOf(const std::string& location) {
  const std::string_view scheme = ports::SchemeOf(location);
  return scheme.empty() ? "file" : std::string(scheme);
}

void ApplyExperiment(Analysis& analysis) {
  const Experiment& experiment = analysis.experiment;
  if (experiment.read) analysis.read = *experiment.read;
  if (experiment.size_exponent) analysis.cost.size_exponent = *experiment.size_exponent;
  if (experiment.merge_bytes_per_second) {
    analysis.cost.input_bytes_per_second = std::clamp(*experiment.merge_bytes_per_second, kMergeRateMin, kMergeRateMax);
  }
}

/// What merging this table has cost goes before what merging the sample did: storage and commits are in it.
void ApplyEarlier(Analysis& analysis) {
  if (!analysis.earlier || !analysis.earlier->says_cost()) return;
  const double rate = std::clamp(analysis.earlier->bytes_per_second(), kMergeRateMin, kMergeRateMax);
  analysis.cost.input_bytes_per_second = rate;
  analysis.cost.seconds_per_file = analysis.cost.seconds_per_group = 0;
}

void CorrectRewrites(Analysis& analysis) {
  if (!analysis.earlier) return;
  const auto current = std::ranges::find_if(analysis.candidates, &decide::TargetCandidate::is_current);
  if (current == analysis.candidates.end()) return;
  analysis.rewrite_correction =
      decide::RewriteCorrection(*analysis.earlier, analysis.ingest, current->rewrites_per_byte);
  for (auto& candidate : analysis.candidates) candidate.rewrites_per_byte *= analysis.rewrite_correction;
}

void AddRequests(Analysis& analysis) {
  const double seconds = kRequestsPerFile * analysis.request_seconds;
  analysis.read.all.seconds_per_file += seconds;
  analysis.read.two.seconds_per_file += seconds;
}

void JudgeSorting(Analysis& analysis) {
  std::vector<std::string> names;
  for (const auto& candidate : analysis.sort_candidates) {
    if (candidate.pays) names.push_back(candidate.column);
  }
  analysis.sort = !names.empty();
  if (analysis.sort) {
    const auto& best = analysis.sort_candidates.front();
    analysis.sort_reason = fmt::format("by {}: {}", best.column, best.reason);
    names.resize(std::min<std::size_t>(names.size(), 5));
    if (names.size() > 1) analysis.sort_reason += fmt::format("; of use by one of: {}", fmt::join(names, ", "));
  } else if (analysis.sort_candidates.empty()) {
    analysis.sort_reason = analysis.facts.files.empty() ? "there are no data files" : "no column has bounds";
  } else {
    const auto& best = analysis.sort_candidates.front();
    analysis.sort_reason = best.point_share_now - best.point_share_sorted < kSortGainSeen
                               ? std::string("lookups would open as much as now, whatever the order of the rows")
                               : fmt::format("no column would gain enough; {}: {}", best.column, best.reason);
  }
}

Status EvaluateTargets(const ports::LoadedTable& table, ports::FileIO& io, const AnalyzeOptions& options,
                       const std::vector<std::int64_t>& targets, Analysis& analysis) {
  decide::TargetOptions target_options;
  target_options.cost = analysis.cost;
  target_options.read = analysis.read;
  target_options.ingest = analysis.ingest;
  target_options.key_ranges = MakeKeyRangeLookup(analysis.facts, *table.metadata, io, options.assess.threads);
  for (const std::int64_t target : targets) {
    FIRN_ASSIGN(auto candidate, decide::EvaluateTarget(analysis.facts, analysis.policy, target, target_options));
    analysis.candidates.push_back(candidate);
  }
  return Ok();
}

}  // namespace

double DefaultRequestSeconds(std::string_view scheme) {
  return scheme.empty() || scheme == "file" ? 0 : kObjectRequestSeconds;
}

decide::IngestHistory HistoryOf(const iceberg::TableMetadata& metadata, const std::string& ref) {
  decide::IngestHistory history;
  TimestampMs newest{}, oldest{};
  for (const iceberg::Snapshot* snapshot :
       iceberg::AncestorsOf(metadata, metadata.RefSnapshot(ref), kSnapshotsMax).path) {
    const std::int64_t files = NumberIn(*snapshot, "added-data-files"), bytes = NumberIn(*snapshot, "added-files-size");
    const bool adds_rows = snapshot->operation() == "append" || snapshot->operation() == "overwrite";
    const bool is_own = snapshot->FindSummary("firn.plan-id") != nullptr;
    if (adds_rows && !is_own && files > 0 && bytes > 0) {
      if (history.commits == 0) newest = snapshot->timestamp;
      oldest = snapshot->timestamp;
      ++history.commits;
      history.files += files;
      history.bytes += bytes;
    }
  }
  history.days = std::max(0.0, (static_cast<double>(newest.value) - static_cast<double>(oldest.value)) / 86'400'000.0);
  return history;
}

Result<Analysis> Analyze(const ports::LoadedTable& table, ports::FileIO& io, const AnalyzeOptions& options,
                         TimestampMs now) {
  Analysis analysis;
  analysis.policy = options.assess.policy;
  FIRN_ASSIGN(Assessment assessment, Diagnose(table, io, options.assess, now));
  analysis.facts = std::move(assessment.facts);
  for (const auto& file : analysis.facts.files) analysis.bytes += file.size_bytes;
  analysis.scheme = SchemeOf(table.metadata->location());
  analysis.request_seconds = options.request_seconds.value_or(DefaultRequestSeconds(analysis.scheme));
  analysis.ingest = HistoryOf(*table.metadata, options.assess.ref);
  const auto targets = decide::CandidateTargets(analysis.facts, analysis.policy.target_size_bytes);
  analysis.experiment.reason = "switched off by --no-measure";
  if (options.measure) {
    FIRN_ASSIGN(analysis.experiment,
                MeasureSample(analysis.facts, *table.metadata, io, analysis.policy, targets, options.sample));
  }
  ApplyExperiment(analysis);
  analysis.earlier = options.earlier;
  ApplyEarlier(analysis);
  AddRequests(analysis);
  FIRN_TRY(EvaluateTargets(table, io, options, targets, analysis));
  CorrectRewrites(analysis);
  analysis.reads_a_day = options.reads_a_day;
  if (options.earlier || options.reads_a_day) {
    analysis.weighing = decide::WeighingOf(analysis.earlier.value_or(decide::EarlierRuns()), analysis.ingest,
                                           analysis.cost.input_bytes_per_second, options.reads_a_day);
  }
  analysis.read_now = decide::ReadNow(analysis.facts, analysis.read);
  analysis.advice = decide::Advise(analysis.candidates, analysis.read_now,
                                   static_cast<std::int64_t>(analysis.facts.files.size()), {}, analysis.weighing);
  FIRN_ASSIGN(analysis.sort_candidates,
              FindSortCandidates(analysis.facts, *table.metadata, io, analysis.advice.target_size_bytes,
                                 Random(options.sample.seed), options.assess.threads));
  JudgeSorting(analysis);
  ListInputs(analysis);
  ListAssumptions(analysis);
  return analysis;
}

}  // namespace firn::service
