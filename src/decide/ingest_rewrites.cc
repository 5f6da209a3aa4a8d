// SPDX-License-Identifier: Apache-2.0
#include "decide/ingest_rewrites.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "decide/decide.h"
#include "orient/orient.h"

namespace firn::decide {
namespace {

/// Merged files stand where the first of theirs was.
std::vector<observe::DataFileFacts> Apply(const std::vector<observe::DataFileFacts>& files, const Plan& plan) {
  std::vector<bool> gone(files.size());
  std::vector<observe::DataFileFacts> after;
  for (const MergeGroup& group : plan.groups) {
    for (const std::uint32_t i : group.files) gone[i] = true;
    observe::DataFileFacts merged = files[group.files.front()];
    merged.size_bytes = group.predicted_output_bytes;
    merged.record_count = group.input_records;
    after.push_back(merged);
  }
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (!gone[i]) after.push_back(files[i]);
  }
  std::ranges::sort(after, {}, &observe::DataFileFacts::data_sequence_number);
  return after;
}

}  // namespace

Result<double> RewritesPerByte(const IngestHistory& history, const orient::Policy& policy, const CostModel& cost,
                               std::int64_t partition_bytes) {
  const std::int64_t file_bytes = history.file_bytes();
  if (file_bytes <= 0) return 0.0;
  const std::int64_t end_bytes = std::min(2 * policy.target_size_bytes, std::max(partition_bytes, file_bytes));
  const std::int64_t commits = std::clamp<std::int64_t>(end_bytes / file_bytes, 1, kIngestCommitsMax);
  observe::Facts facts;
  facts.snapshot_id = SnapshotId{1};
  facts.partitions.emplace_back();
  DecideOptions options;
  options.cost = cost;
  double rewritten = 0;
  for (std::int64_t i = 0; i < commits; ++i) {
    observe::DataFileFacts file;
    file.data_sequence_number = i;
    file.size_bytes = file_bytes;
    file.record_count = 1000;
    facts.files.push_back(file);
    // Before that many files nothing is merged unless they are large: then the commits are few anyway.
    if ((i + 1) % policy.min_input_files != 0 && i + 1 < commits && commits > 64) continue;
    FIRN_ASSIGN(const Plan plan, Decide(facts, orient::Diagnose(facts, policy), policy, options));
    if (plan.groups.empty()) continue;
    rewritten += static_cast<double>(plan.bytes_rewritten);
    facts.files = Apply(facts.files, plan);
  }
  return rewritten / (static_cast<double>(commits) * static_cast<double>(file_bytes));
}

}  // namespace firn::decide
