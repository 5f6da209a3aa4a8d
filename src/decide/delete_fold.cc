// SPDX-License-Identifier: Apache-2.0
#include "decide/delete_fold.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human_text.h"
#include "orient/delete_debt.h"

namespace firn::decide {
namespace {

/// A delete file that many data files share is read once by a reader with a cache; so it is worth less than a file.
constexpr double kDeleteFileBenefit = 0.1;
constexpr double kDeleteFilesBenefitMax = 1;

Bin Merged(const std::vector<Bin>& members, const Bin& chosen) {
  Bin all;
  for (const std::uint32_t i : chosen) all.insert(all.end(), members[i].begin(), members[i].end());
  std::ranges::sort(all);
  return all;
}

/// Neighbours in row order, as many as fit and as may be together.
std::vector<Bin> FillInOrder(std::span<const PackingItem> files, const Bin& due, const PackingModel& model) {
  std::vector<Bin> bins;
  double weight = 0;
  for (const std::uint32_t i : due) {
    weight += files[i].weight;
    if (bins.empty() || weight > model.max_weight() ||
        static_cast<std::int64_t>(bins.back().size()) >= model.limits().max_input_files) {
      bins.emplace_back();
      weight = files[i].weight;
    }
    bins.back().push_back(i);
  }
  return bins;
}

}  // namespace

double FoldBenefit(const observe::DataFileFacts& file, std::int64_t target_size_bytes) {
  const std::int64_t dead_bytes = file.size_bytes - orient::LiveSizeBytes(file);
  return std::min(kDeleteFilesBenefitMax, kDeleteFileBenefit * static_cast<double>(file.delete_files)) +
         static_cast<double>(dead_bytes) / static_cast<double>(target_size_bytes);
}

PackingItem FoldItem(const observe::DataFileFacts& file, const PackingModel& model) {
  const std::int64_t live_bytes = orient::LiveSizeBytes(file);
  return model.ItemOf(live_bytes, file.size_bytes - live_bytes, FoldBenefit(file, model.limits().target_size_bytes));
}

std::vector<Bin> JoinDue(std::span<const PackingItem> files, const std::vector<bool>& due, std::vector<Bin> bins,
                         const PackingModel& model, const std::optional<PackingGoal>& goal) {
  std::vector<bool> used(files.size());
  for (const Bin& bin : bins) {
    for (const std::uint32_t i : bin) used[i] = true;
  }
  Bin rest;
  for (std::uint32_t i = 0; i < files.size(); ++i) {
    if (due[i] && !used[i]) rest.push_back(i);
  }
  if (rest.empty()) return bins;
  for (Bin& bin : FillInOrder(files, rest, model)) bins.push_back(std::move(bin));
  // What is written anyway is joined again with what is left, as a plan made afterwards would.
  while (true) {
    std::vector<PackingItem> items;
    std::vector<Bin> members = std::move(bins);
    std::fill(used.begin(), used.end(), false);
    for (const Bin& bin : members) {
      PackingItem sum;
      for (const std::uint32_t i : bin) {
        sum += files[i];
        used[i] = true;
      }
      items.push_back(model.Joined(sum));
    }
    const std::size_t written = members.size();
    for (std::uint32_t i = 0; i < files.size(); ++i) {
      if (used[i]) continue;
      items.push_back(files[i]);
      members.push_back({i});
    }
    const std::vector<Bin> joined = PackFree(std::span<const PackingItem>(items), model, goal);
    std::vector<bool> is_joined(items.size());
    bins.clear();
    for (const Bin& chosen : joined) {
      for (const std::uint32_t i : chosen) is_joined[i] = true;
      bins.push_back(Merged(members, chosen));
    }
    for (std::size_t i = 0; i < written; ++i) {
      if (!is_joined[i]) bins.push_back(std::move(members[i]));
    }
    if (joined.empty()) break;
  }
  std::ranges::sort(bins);
  return bins;
}

std::string WhyRewrite(const observe::Facts& facts, const orient::Policy& policy, const MergeGroup& group) {
  const auto count = static_cast<std::int64_t>(group.files.size());
  std::string why;
  if (count > 1) {
    why = fmt::format("{} become one", HumanCount(count, "file"));
    if (group.deleted_rows > 0) {
      why += fmt::format(", {} drop out", HumanCount(group.deleted_rows, "deleted row"));
    }
    if (group.delete_files > 0) {
      why += fmt::format(", {} less", HumanCount(group.delete_files, "delete file read"));
    }
    return why;
  }
  const observe::DataFileFacts& file = facts.files[group.files[0]];
  const double ratio = orient::DeletedRatio(file);
  if (ratio >= policy.delete_ratio_threshold) {
    return fmt::format("{:.1f} % of its rows are deleted: at least {:.4g} %", 100 * ratio,
                       100 * policy.delete_ratio_threshold);
  }
  return fmt::format("{} apply to it: from {} on it pays", HumanCount(file.delete_files, "delete file"),
                     orient::DeleteFilesDue(file.size_bytes, policy));
}

}  // namespace firn::decide
