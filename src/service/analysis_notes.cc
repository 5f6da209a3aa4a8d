// SPDX-License-Identifier: Apache-2.0
#include "service/analysis_notes.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.h"

namespace firn::service {
namespace {

void ListEarlier(const Analysis& analysis, std::vector<std::string>& list) {
  if (!analysis.earlier) return list.push_back("no state of a service: earlier runs are not known (--state)");
  const decide::EarlierRuns& earlier = *analysis.earlier;
  if (earlier.runs == 0) {
    list.push_back("earlier merges: none is on record");
  } else if (!earlier.says_cost()) {
    list.push_back(fmt::format("earlier merges: {} in {}, too little to go by", HumanCount(earlier.runs),
                               HumanSeconds(earlier.seconds)));
  } else {
    list.push_back(fmt::format("earlier merges: {}, {} in {} (predicted: {}), that is {} a second",
                               HumanCount(earlier.runs), HumanBytes(earlier.bytes), HumanSeconds(earlier.seconds),
                               HumanSeconds(earlier.predicted_seconds),
                               HumanBytes(static_cast<std::int64_t>(earlier.bytes_per_second()))));
  }
  if (analysis.rewrite_correction != 1) {
    list.push_back(
        fmt::format("rewriting for each byte that came: {:.2f} times what was predicted", analysis.rewrite_correction));
  }
  if (earlier.lasting_days) {
    list.push_back(fmt::format("merged partitions were merged again {}, half of them within {}",
                               HumanCount(earlier.merged_again, "time"), HumanSeconds(*earlier.lasting_days * 86'400)));
  }
  list.push_back(earlier.reads_a_day ? fmt::format("scan reports: {} scans a day, each of {:.0f} % of the files",
                                                   decide::RateText(*earlier.reads_a_day), earlier.read_share * 100)
                                     : std::string("scan reports: none"));
}

}  // namespace

std::string Summary(const Analysis& analysis) {
  const decide::Advice& advice = analysis.advice;
  return fmt::format("Merging: {}, {}. File size: {}, {}. Sorting: {}, {}.", advice.merge ? "yes" : "no",
                     advice.merge_reason, advice.change_target ? "change" : "keep", advice.target_reason,
                     analysis.sort ? "yes" : "no", analysis.sort_reason);
}

void ListInputs(Analysis& analysis) {
  auto& list = analysis.inputs;
  const Experiment& experiment = analysis.experiment;
  list.push_back(experiment.done ? fmt::format("an experiment on {} of {}", HumanCount(experiment.files, "file"),
                                               HumanBytes(experiment.bytes))
                                 : std::string("no experiment: ") + experiment.reason);
  list.push_back(analysis.ingest.files > 0
                     ? fmt::format("{} of others, {} in {}", HumanCount(analysis.ingest.commits, "commit"),
                                   HumanBytes(analysis.ingest.bytes), HumanSeconds(analysis.ingest.days * 86'400))
                     : std::string("commits of others: none that says what it added"));
  ListEarlier(analysis, list);
  if (analysis.reads_a_day) {
    list.push_back(
        fmt::format("{} whole reads a day, as was said (--reads-a-day)", decide::RateText(*analysis.reads_a_day)));
  }
}

void ListAssumptions(Analysis& analysis) {
  auto& list = analysis.assumptions;
  const Experiment& experiment = analysis.experiment;
  list.push_back("a read is one of the whole table by one worker; the advice goes by one of two columns");
  if (analysis.weighing && !analysis.weighing->are_reads_known) {
    list.push_back(fmt::format("no reader reports its scans: {} reads a day are taken (--reads-a-day)",
                               decide::RateText(analysis.weighing->reads_a_day)));
  }
  if (!analysis.weighing) list.push_back("how often it is read is not known, so the time of merging is not weighed");
  if (experiment.read) {
    list.push_back("seconds of reading are fitted to CPU time of Arrow's reader on this machine");
  } else if (experiment.done) {
    list.push_back(
        "seconds of reading are firn's defaults: the sizes that were measured are too alike to tell the time of a "
        "file from that of a byte");
  } else {
    list.push_back("seconds of reading are firn's defaults, not measured here");
  }
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

}  // namespace firn::service
