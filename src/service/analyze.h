// SPDX-License-Identifier: Apache-2.0
//
// Finds out by experiment whether a table should be merged, to which file size, and whether sorting would pay.
//
// In: a loaded table, its files, options. Out: advice, and everything that it stands on.
// Guarantees: the table is only read. The advice follows from the figures in the result; what was assumed and not
//   measured is listed. Without a sample (switched off, or nothing in the table fits) the constants are the program's.
//   What earlier merges have cost goes before both.
// Cost: one read of the manifests, one more of those with bounds (and one a candidate for sorted tables); the sample's
//   (sample_experiment.h).
// Errors: those of observe/, of reading bounds, and of the sample.
// Threads: starts assess.threads - 1 threads and joins them.
// Source: docs/analyze.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "decide/column_overlap.h"
#include "decide/earlier_runs.h"
#include "decide/target_size.h"
#include "service/assess.h"
#include "service/sample_experiment.h"

namespace firn::service {

struct AnalyzeOptions {
  AssessOptions assess = {};
  SampleOptions sample = {};
  bool measure = true;
  /// What a request takes, on top of the work; absent: by the scheme of the table's location.
  std::optional<double> request_seconds = std::nullopt;
  /// What the service remembers of the table; absent: nothing.
  std::optional<decide::EarlierRuns> earlier = std::nullopt;
  /// Reads of the whole table a day, where somebody says so; goes before reports.
  std::optional<double> reads_a_day = std::nullopt;
};

struct Analysis {
  observe::Facts facts;
  orient::Policy policy;
  std::int64_t bytes = 0;
  std::string scheme;  // of the table's location; "file" for local paths
  double request_seconds = 0;
  decide::ReadCosts read;  // requests included
  decide::CostModel cost;
  decide::IngestHistory ingest;
  std::optional<decide::EarlierRuns> earlier;
  std::optional<double> reads_a_day;  // as the caller gave them
  std::optional<decide::Weighing> weighing;
  double rewrite_correction = 1;  // of what the candidates' rewrites were predicted as
  decide::ReadSeconds read_now;
  std::vector<decide::TargetCandidate> candidates;
  std::vector<decide::SortCandidate> sort_candidates;
  decide::Advice advice;
  Experiment experiment;
  bool sort = false;
  std::string sort_reason;
  std::vector<std::string> inputs;  // what was used, a sentence each
  std::vector<std::string> assumptions;
};

Result<Analysis> Analyze(const ports::LoadedTable& table, ports::FileIO& io, const AnalyzeOptions& options,
                         TimestampMs now);

/// A request of an object store until its first byte; 0 for local files.
double DefaultRequestSeconds(std::string_view scheme);
/// What others' commits on the way to `ref` have added.
decide::IngestHistory HistoryOf(const iceberg::TableMetadata& metadata, const std::string& ref);

}  // namespace firn::service
