// SPDX-License-Identifier: Apache-2.0
#include "service/assess.h"

#include "act/merge_settings.h"
#include "format/parquet/compression.h"
#include "service/key_ranges.h"

namespace firn::service {
namespace {

std::function<bool(SpecId, const iceberg::PartitionTuple&)> FilterOf(const AssessOptions& options) {
  const decide::PartitionSelection* selection = options.selection;
  if (selection == nullptr || selection->selects_everything()) return options.partition_filter;
  return [selection, filter = options.partition_filter](SpecId spec, const iceberg::PartitionTuple& tuple) {
    return selection->Matches(spec, tuple) && (!filter || filter(spec, tuple));
  };
}

/// What is wrong with the table's properties, the rewrite says.
decide::CostModel CostOf(const iceberg::TableMetadata& metadata, const orient::Policy& policy) {
  const auto options = act::SpliceOptionsOf(metadata, policy.effort);
  if (!options || !options->codec) return {};
  return decide::CostModelOf(parquet::CodecName(*options->codec), options->codec_level);
}

}  // namespace

Result<Assessment> Diagnose(const ports::LoadedTable& table, ports::FileIO& io, const AssessOptions& options,
                            TimestampMs now) {
  observe::ObserveOptions observe_options;
  observe_options.ref = options.ref;
  observe_options.threads = options.threads;
  observe_options.progress = options.progress;
  observe_options.check_duplicates = options.check_duplicates;
  observe_options.partition_filter = FilterOf(options);
  Assessment assessment;
  FIRN_ASSIGN(assessment.facts, observe::Observe(table, io, observe_options, now));
  assessment.diagnosis = orient::Diagnose(assessment.facts, options.policy);
  return assessment;
}

Result<Assessment> Assess(const ports::LoadedTable& table, ports::FileIO& io, const AssessOptions& options,
                          TimestampMs now) {
  AssessOptions checked = options;
  checked.check_duplicates = true;
  FIRN_ASSIGN(Assessment assessment, Diagnose(table, io, checked, now));
  decide::DecideOptions decide_options;
  decide_options.plan_id = options.plan_id;
  decide_options.max_bytes = options.max_bytes;
  decide_options.cost = CostOf(*table.metadata, options.policy);
  decide_options.key_ranges = MakeKeyRangeLookup(assessment.facts, *table.metadata, io, options.threads);
  FIRN_ASSIGN(assessment.plan, decide::Decide(assessment.facts, assessment.diagnosis, options.policy, decide_options));
  return assessment;
}

}  // namespace firn::service
