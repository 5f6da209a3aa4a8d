// SPDX-License-Identifier: Apache-2.0
#include "simulate/partition_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "orient/orient.h"

namespace firn::simulate {
namespace {

std::uint16_t FlagsOf(std::int64_t equality_deletes, const StoredFile& file) {
  std::uint16_t flags = 0;
  if (equality_deletes > 0) flags |= observe::kHasEqualityDeletes | observe::kMayHaveMoreDeletes;
  if (file.dead_rows > 0) flags |= observe::kHasDeletionVector;
  return flags;
}

/// The facts after the groups were replaced by outputs of the predicted sizes.
observe::Facts AfterPlan(const observe::Facts& facts, const decide::Plan& plan) {
  observe::Facts after = facts;
  std::vector<bool> replaced(facts.files.size());
  std::vector<observe::DataFileFacts> outputs;
  for (const decide::MergeGroup& group : plan.groups) {
    observe::DataFileFacts output;
    for (const std::uint32_t i : group.files) {
      replaced[i] = true;
      output.data_sequence_number = std::max(output.data_sequence_number, facts.files[i].data_sequence_number);
    }
    if (group.predicted_outputs == 0) continue;
    output.manifest = 1;  // younger than all in row order
    output.ordinal = static_cast<std::uint32_t>(outputs.size());
    output.size_bytes = group.predicted_output_bytes;
    output.record_count = group.input_records - group.deleted_rows;
    outputs.push_back(output);
  }
  after.files.clear();
  for (std::size_t i = 0; i < facts.files.size(); ++i) {
    if (!replaced[i]) after.files.push_back(facts.files[i]);
  }
  after.files.insert(after.files.end(), outputs.begin(), outputs.end());
  return after;
}

Error Broken(const observe::Facts& facts, const std::string& what) {
  return Error{Code::kInternal, fmt::format("{} {}: {}", facts.table, facts.partitions[0].text, what)};
}

}  // namespace

observe::Facts FactsOf(const World& world, std::uint32_t table, std::uint32_t partition) {
  const StoredPartition& stored = world.partition(table, partition);
  observe::Facts facts;
  facts.table = fmt::format("db.t{}", table);
  facts.format_version = 3;
  facts.sequence_number = SequenceNumber{world.sequence(table)};
  facts.snapshot_id = SnapshotId{world.sequence(table)};
  observe::PartitionFacts& sums = facts.partitions.emplace_back();
  sums.tuple.values = {static_cast<std::int32_t>(partition)};
  sums.text = fmt::format("p={}", partition);
  sums.equality_delete_files = static_cast<std::int64_t>(stored.equality_deletes.size());
  facts.files.reserve(stored.files.size());
  for (const StoredFile& file : stored.files) {
    const std::int64_t equality_deletes = World::EqualityDeletesOf(stored, file);
    observe::DataFileFacts& seen = facts.files.emplace_back();
    seen.ordinal = file.id;
    seen.flags = FlagsOf(equality_deletes, file);
    seen.delete_files = static_cast<std::uint32_t>(equality_deletes + (file.dead_rows > 0 ? 1 : 0));
    seen.size_bytes = file.size_bytes;
    seen.record_count = file.rows;
    seen.data_sequence_number = file.sequence;
    seen.deleted_rows = file.dead_rows;
    ++sums.file_count;
    sums.size_bytes += file.size_bytes;
    sums.record_count += file.rows;
    sums.deletion_vectors += file.dead_rows > 0 ? 1 : 0;
    sums.deleted_rows_max += file.dead_rows;
  }
  facts.equality_delete_files = sums.equality_delete_files;
  facts.deletion_vectors = sums.deletion_vectors;
  facts.manifest_entries_read = sums.file_count;
  return facts;
}

Job JobOf(const World& world, std::uint32_t table, std::uint32_t partition, const observe::Facts& facts,
          const decide::Plan& plan) {
  const StoredPartition& stored = world.partition(table, partition);
  Job job;
  job.table = table;
  job.partition = partition;
  job.sequence = facts.sequence_number.value;
  job.seconds = plan.predicted_seconds;
  for (const decide::MergeGroup& group : plan.groups) {
    Merge& merge = job.merges.emplace_back();
    for (const std::uint32_t i : group.files) {
      merge.inputs.push_back({stored.files[i].id, stored.files[i].dead_rows, stored.files[i].hidden_rows});
    }
    merge.outputs = static_cast<std::int32_t>(group.predicted_outputs);
    merge.output_bytes = group.predicted_output_bytes;
    merge.input_bytes = group.input_bytes;
    merge.seconds = group.predicted_seconds;
  }
  return job;
}

Status CheckPlan(const observe::Facts& facts, const decide::Plan& plan, const orient::Policy& policy,
                 const decide::DecideOptions& options) {
  std::vector<bool> used(facts.files.size());
  for (const decide::MergeGroup& group : plan.groups) {
    for (const std::uint32_t i : group.files) {
      if (used[i]) return Broken(facts, fmt::format("file {} is in two groups", facts.files[i].ordinal));
      used[i] = true;
    }
    if (group.predicted_outputs > static_cast<std::int64_t>(group.files.size())) {
      return Broken(facts, fmt::format("{} files become {}", group.files.size(), group.predicted_outputs));
    }
  }
  const observe::Facts after = AfterPlan(facts, plan);
  FIRN_ASSIGN(const decide::Plan again, decide::Decide(after, orient::Diagnose(after, policy), policy, options));
  if (!again.groups.empty()) {
    return Broken(facts,
                  fmt::format("after {} groups there would be {} more", plan.groups.size(), again.groups.size()));
  }
  return Ok();
}

Result<Job> PlanPartition(const World& world, std::uint32_t table, std::uint32_t partition,
                          const PlanSettings& settings) {
  const observe::Facts facts = FactsOf(world, table, partition);
  decide::DecideOptions options;
  options.cost = settings.cost;
  options.refusals_max = 0;
  const orient::Diagnosis diagnosis = orient::Diagnose(facts, settings.policy);
  FIRN_ASSIGN(const decide::Plan plan, decide::Decide(facts, diagnosis, settings.policy, options));
  if (settings.check) FIRN_TRY(CheckPlan(facts, plan, settings.policy, options));
  return JobOf(world, table, partition, facts, plan);
}

}  // namespace firn::simulate
