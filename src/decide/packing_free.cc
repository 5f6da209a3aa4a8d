// SPDX-License-Identifier: Apache-2.0
#include "decide/packing_free.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "decide/bin_division.h"
#include "decide/first_fit_tree.h"

namespace firn::decide {
namespace {

using Group = std::vector<std::uint32_t>;  // indexes into a round's items

/// A possible outcome of a round and what it is worth.
struct Choice {
  std::vector<Group> groups;
  double value = 0;
  double error_gone = 0;
  std::int64_t files_gone = 0;  // files before less files after
  std::int64_t items_replaced = 0;
  double units_replaced = 0;
};

/// How many of the smallest items to take, and into how many bins.
struct Cut {
  std::size_t items = 0;
  std::size_t bins = 0;
  double weight = 0;
};

/// What stays of the goal: error and files of everything as it is now.
struct Progress {
  const std::optional<PackingGoal>& goal;
  double error = 0;
  std::int64_t files = 0;

  bool Reached(double error_gone, std::int64_t files_gone) const {
    return goal && error - error_gone <=
                       goal->mean_squared_error * static_cast<double>(files - files_gone) * (1 + 1e-12) + 1e-12;
  }
};

Choice Evaluate(const PackingModel& model, const std::vector<PackingItem>& items, std::vector<Group> groups) {
  Choice choice;
  for (auto& group : groups) {
    PackingItem sum;
    for (std::uint32_t i : group) sum += items[i];
    if (group.size() < 2 || !model.Worth(sum)) continue;
    choice.value += model.Value(sum);
    choice.error_gone += sum.error - model.OutputError(sum.weight);
    choice.files_gone += static_cast<std::int64_t>(group.size()) - 1;
    choice.items_replaced += static_cast<std::int64_t>(group.size());
    choice.units_replaced += sum.units;
    choice.groups.push_back(std::move(group));
  }
  return choice;
}

const Choice& Better(const Progress& progress, const Choice& a, const Choice& b) {
  const bool a_reaches = progress.Reached(a.error_gone, a.files_gone);
  const bool b_reaches = progress.Reached(b.error_gone, b.files_gone);
  if (a_reaches != b_reaches) return a_reaches ? a : b;
  if (!a_reaches) return a.value >= b.value ? a : b;
  if (a.items_replaced != b.items_replaced) return a.items_replaced < b.items_replaced ? a : b;
  return a.units_replaced <= b.units_replaced ? a : b;
}

/// The best prefix of the items, smallest first, as if they could be divided evenly: the smallest have the most error
/// for each file and byte. With a goal, the shortest prefix that reaches it.
Cut ChooseCut(const PackingModel& model, const std::vector<PackingItem>& items,
              const std::vector<std::uint32_t>& ascending, const Progress& progress) {
  Cut best;
  double best_value = PackingModel::kValueMin;
  PackingItem sum;
  for (std::size_t k = 1; k <= ascending.size(); ++k) {
    sum += items[ascending[k - 1]];
    if (k < 2) continue;
    const auto whole = static_cast<std::size_t>(std::max(1.0, std::floor(sum.weight)));
    for (std::size_t bins : {whole, whole + 1}) {
      if (bins > k / 2) continue;
      PackingItem share = sum;
      share.weight /= static_cast<double>(bins);
      if (bins > 1 && share.weight < model.healthy_weight()) continue;
      if (!model.Feasible(share)) continue;
      const double error_gone = sum.error - static_cast<double>(bins) * model.OutputError(share.weight);
      if (progress.Reached(error_gone, static_cast<std::int64_t>(k - bins))) return {k, bins, sum.weight};
      if (const double value = error_gone + sum.benefit - sum.cost; value > best_value) {
        best_value = value;
        best = {k, bins, sum.weight};
      }
    }
  }
  return best;
}

/// Divides the chosen items into bins of about equal weight: large ones by first-fit decreasing, then the small ones
/// in row order, so that neighbours stay together.
std::vector<Group> FillBins(const PackingModel& model, const std::vector<PackingItem>& items,
                            const std::vector<std::uint32_t>& ascending, const Cut& cut) {
  std::vector<Group> groups(cut.bins);
  const double share = cut.weight / static_cast<double>(cut.bins);
  FirstFitTree tree(cut.bins, share * (1 + 1e-9));
  std::vector<std::uint32_t> small;
  for (std::size_t at = cut.items; at-- > 0;) {
    const std::uint32_t i = ascending[at];
    const double weight = items[i].weight;
    if (weight < share / 4) {
      small.push_back(i);
      continue;
    }
    std::size_t bin = tree.FindFirst(weight);
    if (bin == FirstFitTree::kNone) {
      bin = tree.FindRoomiest();
      if (share - tree.room(bin) + weight > model.max_weight()) continue;
    }
    groups[bin].push_back(i);
    tree.Take(bin, weight);
  }
  std::sort(small.begin(), small.end());
  std::size_t bin = 0;
  for (std::uint32_t i : small) {
    while (bin < cut.bins && (tree.room(bin) <= 0 || share - tree.room(bin) + items[i].weight > model.max_weight())) {
      ++bin;
    }
    if (bin == cut.bins) break;
    groups[bin].push_back(i);
    tree.Take(bin, items[i].weight);
  }
  return groups;
}

std::vector<Group> FirstFitDecreasing(const PackingModel& model, const std::vector<PackingItem>& items,
                                      const std::vector<std::uint32_t>& ascending) {
  std::vector<Group> groups(items.size());
  FirstFitTree tree(items.size(), model.max_weight());
  for (std::size_t at = ascending.size(); at-- > 0;) {
    const std::uint32_t i = ascending[at];
    const std::size_t bin = tree.FindFirst(items[i].weight);
    if (bin == FirstFitTree::kNone) continue;
    groups[bin].push_back(i);
    tree.Take(bin, items[i].weight);
  }
  std::erase_if(groups, [](const Group& group) { return group.size() < 2; });
  return groups;
}

std::vector<std::uint32_t> Ascending(const std::vector<PackingItem>& items) {
  std::vector<std::uint32_t> order(items.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return items[a].weight < items[b].weight; });
  return order;
}

Choice PackOnce(const PackingModel& model, const std::vector<PackingItem>& items, const Progress& progress) {
  const auto ascending = Ascending(items);
  Choice modified;
  if (const Cut cut = ChooseCut(model, items, ascending, progress); cut.items > 0) {
    modified = Evaluate(model, items, FillBins(model, items, ascending, cut));
  }
  const Choice plain = Evaluate(model, items, FirstFitDecreasing(model, items, ascending));
  return Better(progress, modified, plain);
}

}  // namespace

std::vector<Bin> PackFree(std::span<const PackingItem> files, const PackingModel& model,
                          const std::optional<PackingGoal>& goal) {
  std::vector<PackingItem> items;       // still small
  std::vector<std::uint32_t> heads;     // first file of each item's chain
  std::vector<std::uint32_t> finished;  // heads of bins that reached the healthy size
  FileChains chains(files.size());
  Progress progress{goal, goal ? goal->other_error : 0, goal ? goal->other_files : 0};
  for (std::size_t i = 0; i < files.size(); ++i) {
    progress.error += files[i].error;
    ++progress.files;
    if (files[i].weight >= model.healthy_weight()) continue;
    items.push_back(files[i]);
    heads.push_back(static_cast<std::uint32_t>(i));
  }
  // Later rounds see what earlier ones made: what a plan made afterwards could still join is joined now.
  while (items.size() >= 2 && !progress.Reached(0, 0)) {
    const Choice choice = PackOnce(model, items, progress);
    if (choice.groups.empty()) break;
    progress.error -= choice.error_gone;
    progress.files -= choice.files_gone;
    std::vector<bool> used(items.size());
    std::vector<PackingItem> next_items;
    std::vector<std::uint32_t> next_heads;
    for (const auto& group : choice.groups) {
      PackingItem sum;
      for (std::uint32_t i : group) {
        sum += items[i];
        used[i] = true;
        if (i != group[0]) chains.Join(heads[group[0]], heads[i]);
      }
      if (sum.weight >= model.healthy_weight()) {
        finished.push_back(heads[group[0]]);
      } else {
        next_items.push_back(model.Joined(sum));
        next_heads.push_back(heads[group[0]]);
      }
    }
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (used[i]) continue;
      next_items.push_back(items[i]);
      next_heads.push_back(heads[i]);
    }
    items = std::move(next_items);
    heads = std::move(next_heads);
  }
  std::vector<Bin> bins;
  for (std::uint32_t head : finished) bins.push_back(chains.Collect(head));
  for (std::size_t i = 0; i < items.size(); ++i) {
    Bin bin = chains.Collect(heads[i]);
    if (bin.size() >= 2) bins.push_back(std::move(bin));
  }
  bins = DivideBins(files, std::move(bins), model);
  std::sort(bins.begin(), bins.end());
  return bins;
}

std::vector<Bin> PackFree(std::span<const std::int64_t> sizes_bytes, const PackingModel& model,
                          const std::optional<PackingGoal>& goal) {
  std::vector<PackingItem> files;
  files.reserve(sizes_bytes.size());
  for (const std::int64_t size : sizes_bytes) files.push_back(model.ItemOf(size));
  return PackFree(files, model, goal);
}

std::vector<Bin> PackFirstFitDecreasing(std::span<const std::int64_t> sizes_bytes, const PackingModel& model) {
  std::vector<PackingItem> items;
  std::vector<std::uint32_t> files;
  for (std::size_t i = 0; i < sizes_bytes.size(); ++i) {
    if (sizes_bytes[i] >= model.limits().healthy_size_bytes) continue;
    items.push_back(model.ItemOf(sizes_bytes[i]));
    files.push_back(static_cast<std::uint32_t>(i));
  }
  std::vector<Bin> bins;
  for (const auto& group : FirstFitDecreasing(model, items, Ascending(items))) {
    Bin bin;
    for (std::uint32_t i : group) bin.push_back(files[i]);
    std::sort(bin.begin(), bin.end());
    bins.push_back(std::move(bin));
  }
  std::sort(bins.begin(), bins.end());
  return bins;
}

}  // namespace firn::decide
