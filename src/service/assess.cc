// SPDX-License-Identifier: Apache-2.0
#include "service/assess.h"

#include "act/merge_settings.h"
#include "format/parquet/compression.h"
#include "service/key_ranges.h"

namespace firn::service {
namespace {

bool SelectsAll(const AssessOptions& options) {
  return options.selection == nullptr || options.selection->selects_everything();
}

void Select(const AssessOptions& options, const ports::LoadedTable& table, observe::ObserveOptions& observe) {
  const decide::PartitionSelection* selection = SelectsAll(options) ? nullptr : options.selection;
  const PartitionKeys* keys = options.keys;
  if (selection == nullptr && keys == nullptr) return;
  observe.partition_filter = [selection, keys](SpecId spec, const iceberg::PartitionTuple& tuple) {
    return (selection == nullptr || selection->Matches(spec, tuple)) &&
           (keys == nullptr || keys->Contains(spec, tuple));
  };
  observe.manifest_filter = [selection, keys, &table](const iceberg::ManifestFile& manifest) {
    return (selection == nullptr || selection->MayMatch(manifest)) &&
           (keys == nullptr || keys->MayBeIn(manifest, *table.metadata));
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
  Select(options, table, observe_options);
  Assessment assessment;
  FIRN_ASSIGN(assessment.facts, observe::Observe(table, io, observe_options, now));
  assessment.diagnosis = orient::Diagnose(assessment.facts, options.policy);
  return assessment;
}

Status MakePlan(const ports::LoadedTable& table, ports::FileIO& io, const AssessOptions& options,
                Assessment& assessment) {
  decide::DecideOptions decide_options;
  decide_options.plan_id = options.plan_id;
  decide_options.max_bytes = options.max_bytes;
  decide_options.cost = CostOf(*table.metadata, options.policy);
  decide_options.key_ranges = MakeKeyRangeLookup(assessment.facts, *table.metadata, io, options.threads);
  decide_options.is_selection = options.keys != nullptr || !SelectsAll(options);
  FIRN_ASSIGN(assessment.plan, decide::Decide(assessment.facts, assessment.diagnosis, options.policy, decide_options));
  return Ok();
}

Result<Assessment> Assess(const ports::LoadedTable& table, ports::FileIO& io, const AssessOptions& options,
                          TimestampMs now) {
  AssessOptions checked = options;
  checked.check_duplicates = true;
  FIRN_ASSIGN(Assessment assessment, Diagnose(table, io, checked, now));
  FIRN_TRY(MakePlan(table, io, options, assessment));
  return assessment;
}

}  // namespace firn::service
