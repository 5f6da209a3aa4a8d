// SPDX-License-Identifier: Apache-2.0
#include "decide/partition_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "decide/delete_fold.h"
#include "decide/packing_free.h"
#include "decide/packing_ordered.h"
#include "orient/delete_debt.h"
#include "orient/orient.h"

namespace firn::decide {
namespace {

using observe::DataFileFacts;
using observe::Facts;

struct FlagReason {
  std::uint16_t flags;
  std::string_view code;
  std::string_view reason;
};

// The first that matches is the reason that is given.
constexpr std::array<FlagReason, 7> kFlagReasons = {{
    {observe::kEncrypted, kCodeEncrypted, "encrypted files are not read"},
    {observe::kUnknownTransform, kCodeTransform,
     "their partition spec has a transform that this version does not know"},
    {observe::kNotParquet, kCodeFormat, "only Parquet files are merged"},
    {observe::kHasMisplacedDeletes, kCodeDeletes,
     "a delete file names them, but its partition or sequence number does not fit: readers disagree about their rows"},
    {observe::kHasRowLineage, kCodeRowLineage, "their row ids would have to be kept, which this version cannot do"},
    {observe::kHasEqualityDeletes, kCodeDeletes, "equality deletes apply to them"},
    {observe::kHasPositionDeletes | observe::kHasDeletionVector, kCodeDeletes, "position deletes apply to them"},
}};

auto RowOrder(const DataFileFacts& file) { return std::tuple(file.data_sequence_number, file.manifest, file.ordinal); }

MergeGroup MakeGroup(const Facts& facts, const orient::Policy& policy, std::uint32_t partition,
                     std::vector<std::uint32_t> files, const PackingModel& model, const CostModel& cost) {
  MergeGroup group;
  group.partition = partition;
  group.files = std::move(files);
  double weight = 0, benefit = 0;
  group.sort_order_id = facts.files[group.files[0]].sort_order_id;
  for (std::uint32_t i : group.files) {
    const DataFileFacts& file = facts.files[i];
    group.input_bytes += file.size_bytes;
    group.input_records += file.record_count;
    group.deleted_rows += std::min(file.deleted_rows, file.record_count);
    group.delete_files += file.delete_files;
    group.may_delete_more |= (file.flags & observe::kMayHaveMoreDeletes) != 0;
    weight += FoldItem(file, model).weight;
    benefit += FoldBenefit(file, policy.target_size_bytes);
    if (file.sort_order_id != group.sort_order_id) group.sort_order_id = 0;
  }
  const auto count = static_cast<std::int64_t>(group.files.size());
  group.predicted_outputs = group.deleted_rows < group.input_records || group.deleted_rows == 0 ? 1 : 0;
  group.predicted_output_bytes =
      group.predicted_outputs == 0 ? 0 : std::min(model.OutputBytes(weight), group.input_bytes);
  group.predicted_seconds = PredictSeconds(cost, group.input_bytes, count);
  group.value = (static_cast<double>(count - group.predicted_outputs) + benefit) / group.predicted_seconds;
  group.why = WhyRewrite(facts, policy, group);
  return group;
}

std::optional<PackingGoal> GoalOf(const Facts& facts, const orient::Policy& policy, const PartitionFiles& files) {
  if (policy.tolerated_entropy <= 0) return std::nullopt;
  PackingGoal goal{policy.tolerated_entropy * policy.tolerated_entropy,
                   static_cast<std::int64_t>(files.all.size() - files.candidates.size()), 0};
  const auto target = static_cast<double>(policy.target_size_bytes);
  const auto error = [&](std::uint32_t i) {
    const double e = 1 - std::min(1.0, static_cast<double>(orient::LiveSizeBytes(facts.files[i])) / target);
    return e * e;
  };
  for (std::uint32_t i : files.all) goal.other_error += error(i);
  for (std::uint32_t i : files.candidates) goal.other_error -= error(i);
  goal.other_error = std::max(0.0, goal.other_error);
  return goal;
}

void AddLargeFolds(const Facts& facts, const orient::Policy& policy, const PartitionFiles& files,
                   const PackingModel& model, const CostModel& cost, std::vector<MergeGroup>& groups) {
  for (const std::uint32_t i : files.folds) {
    groups.push_back(MakeGroup(facts, policy, files.partition, {i}, model, cost));
  }
}

/// A file's place among the keys of its partition.
struct Keyed {
  KeyRange range;
  std::uint32_t file = 0;
  bool candidate = false;
};

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> PartitionRanges(const Facts& facts) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges(facts.partitions.size());
  for (std::uint32_t i = 0; i < facts.files.size();) {
    std::uint32_t end = i;
    while (end < facts.files.size() && facts.files[end].partition == facts.files[i].partition) ++end;
    ranges[facts.files[i].partition] = {i, end};
    i = end;
  }
  return ranges;
}

PartitionFiles SortOut(const Facts& facts, const orient::Policy& policy, std::uint32_t partition,
                       std::pair<std::uint32_t, std::uint32_t> range) {
  PartitionFiles files;
  files.partition = partition;
  for (std::uint32_t i = range.first; i < range.second; ++i) {
    files.all.push_back(i);
    const orient::FileClass file_class = orient::Classify(facts.files[i], policy);
    if (file_class == orient::FileClass::kSmall) files.candidates.push_back(i);
    if (file_class == orient::FileClass::kFold) files.folds.push_back(i);
  }
  std::sort(files.candidates.begin(), files.candidates.end(),
            [&](std::uint32_t a, std::uint32_t b) { return RowOrder(facts.files[a]) < RowOrder(facts.files[b]); });
  return files;
}

std::vector<Refusal> RefuseBlocked(const Facts& facts, const orient::Policy& policy, const PartitionFiles& files) {
  std::array<Refusal, kFlagReasons.size()> found;
  for (std::uint32_t i : files.all) {
    const DataFileFacts& file = facts.files[i];
    if (orient::Classify(file, policy) != orient::FileClass::kBlocked) continue;
    const int flags = file.flags & ~policy.mergeable_flags;
    for (std::size_t r = 0; r < kFlagReasons.size(); ++r) {
      if ((flags & kFlagReasons[r].flags) == 0 && r + 1 < kFlagReasons.size()) continue;
      ++found[r].files;
      found[r].bytes += file.size_bytes;
      break;
    }
  }
  std::vector<Refusal> refusals;
  for (std::size_t r = 0; r < kFlagReasons.size(); ++r) {
    if (found[r].files == 0) continue;
    refusals.push_back({facts.partitions[files.partition].text, std::string(kFlagReasons[r].reason),
                        std::string(kFlagReasons[r].code), found[r].files, found[r].bytes});
  }
  return refusals;
}

std::vector<MergeGroup> GroupFree(const Facts& facts, const orient::Policy& policy, const PartitionFiles& files,
                                  const PackingModel& model, const CostModel& cost) {
  std::vector<PackingItem> items;
  std::vector<bool> due;
  for (std::uint32_t i : files.candidates) {
    items.push_back(FoldItem(facts.files[i], model));
    due.push_back(orient::IsFoldDue(facts.files[i], policy));
  }
  const auto goal = GoalOf(facts, policy, files);
  const std::span<const PackingItem> all(items);
  std::vector<MergeGroup> groups;
  for (const Bin& bin : JoinDue(all, due, PackFree(all, model, goal), model, goal)) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t i : bin) members.push_back(files.candidates[i]);
    groups.push_back(MakeGroup(facts, policy, files.partition, std::move(members), model, cost));
    // Rows of one file stay in their order.
    if (bin.size() > 1) groups.back().sort_order_id = 0;
  }
  AddLargeFolds(facts, policy, files, model, cost, groups);
  return groups;
}

std::optional<std::vector<MergeGroup>> GroupOrdered(const Facts& facts, const orient::Policy& policy,
                                                    const PartitionFiles& files,
                                                    std::span<const std::optional<KeyRange>> ranges,
                                                    const PackingModel& model, const CostModel& cost) {
  std::vector<std::uint32_t> candidates = files.candidates;
  std::sort(candidates.begin(), candidates.end());
  std::vector<Keyed> keyed;
  for (std::size_t i = 0; i < files.all.size(); ++i) {
    const bool candidate = std::binary_search(candidates.begin(), candidates.end(), files.all[i]);
    if (ranges[i]) keyed.push_back({*ranges[i], files.all[i], candidate});
    if (!ranges[i] && candidate) return std::nullopt;
  }
  std::sort(keyed.begin(), keyed.end(), [&](const Keyed& a, const Keyed& b) {
    return std::tuple(a.range.low, a.range.high, RowOrder(facts.files[a.file])) <
           std::tuple(b.range.low, b.range.high, RowOrder(facts.files[b.file]));
  });
  const Keyed* before = nullptr;
  for (const Keyed& key : keyed) {
    if (!key.candidate) continue;
    if (before && before->range.high > key.range.low) return std::nullopt;
    before = &key;
  }
  std::vector<PackingItem> items;
  std::vector<bool> barrier;
  for (const Keyed& key : keyed) {
    items.push_back(FoldItem(facts.files[key.file], model));
    barrier.push_back(!key.candidate);
  }
  std::vector<MergeGroup> groups;
  std::vector<bool> used(keyed.size());
  const auto add = [&](const Bin& bin) {
    std::vector<std::uint32_t> members;
    for (std::uint32_t i : bin) {
      members.push_back(keyed[i].file);
      used[i] = true;
    }
    groups.push_back(MakeGroup(facts, policy, files.partition, std::move(members), model, cost));
    groups.back().keeps_order = true;
  };
  for (const Bin& bin : PackOrdered(std::span<const PackingItem>(items), barrier, model)) add(bin);
  for (std::uint32_t i = 0; i < keyed.size(); ++i) {
    if (keyed[i].candidate && !used[i] && orient::IsFoldDue(facts.files[keyed[i].file], policy)) add({i});
  }
  AddLargeFolds(facts, policy, files, model, cost, groups);
  return groups;
}

}  // namespace firn::decide
