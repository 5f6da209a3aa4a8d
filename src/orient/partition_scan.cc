// SPDX-License-Identifier: Apache-2.0
#include "orient/partition_scan.h"

#include <algorithm>
#include <limits>

#include "orient/delete_debt.h"
#include "orient/orient.h"

namespace firn::orient {
namespace {

/// Adds without wrapping.
void Increase(std::uint32_t& count, std::int64_t by) {
  const std::int64_t sum = std::int64_t{count} + std::clamp<std::int64_t>(by, 0, std::int64_t{1} << 40);
  count = static_cast<std::uint32_t>(std::min<std::int64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

void Increase(std::int64_t& bytes, std::int64_t by) {
  if (__builtin_add_overflow(bytes, std::max<std::int64_t>(0, by), &bytes)) {
    bytes = std::numeric_limits<std::int64_t>::max();
  }
}

/// False when more went than was there.
bool Decrease(std::uint32_t& count, std::int64_t by) {
  const bool is_enough = by <= std::int64_t{count};
  count = is_enough ? static_cast<std::uint32_t>(count - by) : 0;
  return is_enough;
}

/// What the last scan knew of deletes.
bool HasFindings(const PartitionState& state) {
  return state.fold_files > 0 || state.small_files_delta != 0 || state.small_bytes_delta != 0;
}

void AddScanned(const observe::DataFileFacts& file, const Policy& policy, const StateBasis& basis,
                PartitionState& state) {
  const std::uint32_t small_before = state.small_files;
  AddFile({file.size_bytes, file.record_count,
           static_cast<std::uint16_t>(file.flags & ~observe::kDeleteFlags & ~observe::kHasMisplacedDeletes)},
          basis, state);
  if (!state.has_numbers()) return;
  const bool is_small_by_entry = state.small_files > small_before;
  const FileClass file_class = Classify(file, policy);
  const bool is_small = file_class == FileClass::kSmall;
  state.small_files_delta += (is_small ? 1 : 0) - (is_small_by_entry ? 1 : 0);
  state.small_bytes_delta += (is_small ? LiveSizeBytes(file) : 0) - (is_small_by_entry ? file.size_bytes : 0);
  if (file_class != FileClass::kBlocked && IsFoldDue(file, policy)) ++state.fold_files;
}

void CountDeletes(const observe::PartitionDelta& delta, PartitionState& state) {
  if (!state.has_numbers()) return;
  const auto positional = [](const observe::ChangedDeletes& d) { return d.position_files + d.vectors; };
  Increase(state.position_delete_files, positional(delta.added_deletes));
  Increase(state.equality_delete_files, delta.added_deletes.equality_files);
  const bool fits = Decrease(state.position_delete_files, positional(delta.removed_deletes));
  if (!Decrease(state.equality_delete_files, delta.removed_deletes.equality_files) || !fits) state.flags |= kEstimated;
}

/// A rewrite of our own took what the last scan had found, or some of it.
void SettleOwn(const Policy& policy, std::uint32_t seconds, PartitionState& state) {
  if (HasFindings(state)) {
    state.small_files_delta = 0;
    state.small_bytes_delta = 0;
    state.fold_files = 0;
    state.flags |= kEstimated;
    if (state.pending_since == 0) state.pending_since = seconds;
  }
  state.files_at_scan = state.file_count;
  if (!state.has_numbers() || IsWorthDoing(state, policy)) {
    if (state.pending_since == 0) state.pending_since = seconds;
  } else if (state.is_exact() && state.files_changed == 0) {
    state.pending_since = 0;
  }
}

void AddNoise(const observe::PartitionDelta& delta, std::uint32_t seconds, PartitionState& state) {
  const auto files = static_cast<std::int64_t>(delta.added.size() + delta.removed.size());
  const std::int64_t new_deletes = delta.added_deletes.files();
  Increase(state.files_changed, files);
  Increase(state.files_changed, new_deletes + delta.removed_deletes.files());
  Increase(state.delete_files_changed, new_deletes);
  Increase(state.commits, 1);
  for (const observe::ChangedFile& file : delta.added) Increase(state.bytes_changed, file.size_bytes);
  for (const observe::ChangedFile& file : delta.removed) Increase(state.bytes_changed, file.size_bytes);
  if (state.pending_since == 0) state.pending_since = seconds;
  const bool is_delete_change = new_deletes > 0 || delta.removed_deletes.files() > 0;
  if (is_delete_change || (!delta.removed.empty() && HasFindings(state))) state.flags |= kEstimated;
}

}  // namespace

bool IsWorthDoing(const PartitionState& state, const Policy& policy) {
  const bool is_merge = RemovableFilesOf(state, policy.target_size_bytes) >= policy.removable_files_min() &&
                        EntropyOf(state, policy.target_size_bytes) > policy.tolerated_entropy;
  return is_merge || state.fold_files > 0;
}

void ForEachScanned(const observe::Facts& facts, const Policy& policy,
                    const std::function<void(const observe::PartitionFacts&, const PartitionState&)>& visit) {
  const StateBasis basis = BasisOf(policy);
  const std::uint32_t seconds = StateSeconds(facts.observed_at);
  std::size_t next = 0;
  for (std::size_t i = 0; i < facts.partitions.size(); ++i) {
    const observe::PartitionFacts& partition = facts.partitions[i];
    PartitionState state;
    for (; next < facts.files.size() && facts.files[next].partition == i; ++next) {
      AddScanned(facts.files[next], policy, basis, state);
    }
    Increase(state.position_delete_files, partition.position_delete_files + partition.deletion_vectors);
    Increase(state.equality_delete_files, partition.equality_delete_files);
    state.files_at_scan = state.file_count;
    state.last_scan = seconds;
    if (IsWorthDoing(state, policy)) state.pending_since = seconds;
    visit(partition, state);
  }
}

void ApplyDelta(const observe::PartitionDelta& delta, bool is_own, std::uint32_t seconds, const Policy& policy,
                PartitionState& state) {
  const StateBasis basis = BasisOf(policy);
  for (const observe::ChangedFile& file : delta.removed) RemoveFile(file, basis, state);
  for (const observe::ChangedFile& file : delta.added) AddFile(file, basis, state);
  CountDeletes(delta, state);
  state.last_change = std::max(state.last_change, seconds);
  if (is_own) {
    SettleOwn(policy, seconds, state);
  } else {
    AddNoise(delta, seconds, state);
  }
}

}  // namespace firn::orient
