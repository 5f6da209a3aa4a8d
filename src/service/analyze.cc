// SPDX-License-Identifier: Apache-2.0
#include "service/analyze.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/human_text.h"
#include "ports/location.h"
#include "service/column_bounds.h"
#include "service/key_ranges.h"

namespace firn::service {
namespace {

constexpr double kObjectRequestSeconds = 0.03;
/// Smaller gains are not worth a word.
constexpr double kSortGainSeen = 0.01;
/// The footer, and the columns.
constexpr double kRequestsPerFile = 2;
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

void ListAssumptions(Analysis& analysis) {
  auto& list = analysis.assumptions;
  const Experiment& experiment = analysis.experiment;
  list.push_back("a read is one of the whole table by one worker; the advice goes by one of two columns");
  list.push_back(experiment.read ? "seconds of reading are fitted to CPU time of Arrow's reader on this machine"
                                 : "seconds of reading are firn's defaults, not measured here");
  list.push_back(analysis.request_seconds > 0
                     ? fmt::format("a file takes {:.0f} requests of {} each (--request-ms), one after the other",
                                   kRequestsPerFile, HumanSeconds(analysis.request_seconds))
                     : std::string("files are local: a request takes no time of its own"));
  if (analysis.ingest.files > 0) {
    list.push_back(fmt::format("the table goes on growing by files of {}, one a partition and commit, as its last {}",
                               HumanBytes(analysis.ingest.file_bytes()),
                               HumanCount(analysis.ingest.commits, "commit")));
  } else {
    list.push_back("no snapshot says what commits add, so rewriting later on is not counted");
  }
  if (!analysis.sort_candidates.empty()) {
    list.push_back("sorting pays only for queries that look for values of that column; which ones run is not known");
    list.push_back(fmt::format("shares to open are by the bounds of {} in {}",
                               HumanCount(analysis.sort_candidates.front().files, "file"),
                               HumanCount(analysis.sort_candidates.front().partitions, "partition")));
  }
  const bool has_deletes = std::ranges::any_of(
      analysis.facts.files, [](const auto& file) { return (file.flags & observe::kDeleteFlags) != 0; });
  if (has_deletes) list.push_back("what readers spend on delete files is not counted; `firn health` shows it");
  if (!analysis.policy.enabled) list.push_back("the table has firn.enabled=false: firn would merge nothing");
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
  const iceberg::Snapshot* snapshot = metadata.RefSnapshot(ref);
  TimestampMs newest{}, oldest{};
  for (std::size_t i = 0; snapshot != nullptr && i < kSnapshotsMax; ++i) {
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
    snapshot = snapshot->parent_id ? metadata.FindSnapshot(*snapshot->parent_id) : nullptr;
  }
  history.days = std::max(0.0, static_cast<double>(newest.value - oldest.value) / 86'400'000.0);
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
  AddRequests(analysis);
  FIRN_TRY(EvaluateTargets(table, io, options, targets, analysis));
  analysis.read_now = decide::ReadNow(analysis.facts, analysis.read);
  analysis.advice =
      decide::Advise(analysis.candidates, analysis.read_now, static_cast<std::int64_t>(analysis.facts.files.size()));
  FIRN_ASSIGN(analysis.sort_candidates,
              FindSortCandidates(analysis.facts, *table.metadata, io, analysis.advice.target_size_bytes,
                                 Random(options.sample.seed), options.assess.threads));
  JudgeSorting(analysis);
  ListAssumptions(analysis);
  return analysis;
}

}  // namespace firn::service
