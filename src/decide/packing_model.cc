// SPDX-License-Identifier: Apache-2.0
#include "decide/packing_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace firn::decide {
namespace {

double Units(std::int64_t bytes, std::int64_t target_bytes) {
  return static_cast<double>(std::max<std::int64_t>(bytes, 0)) / static_cast<double>(target_bytes);
}

double SquaredShortfall(double units) { return units >= 1 ? 0 : (1 - units) * (1 - units); }

/// Errors of outputs by weight. To fill a table takes longer than to decide about a partition, and one exponent is used
/// again and again: each thread keeps its last one.
std::shared_ptr<const std::vector<double>> ErrorTable(double size_exponent, std::size_t points) {
  thread_local double kept_exponent = 0;
  thread_local std::shared_ptr<const std::vector<double>> kept;
  if (kept == nullptr || kept_exponent != size_exponent) {
    std::vector<double> table(points + 2);
    for (std::size_t i = 0; i < table.size(); ++i) {
      const double weight = static_cast<double>(i) / static_cast<double>(points);
      table[i] = SquaredShortfall(std::pow(weight, 1 / size_exponent));
    }
    kept = std::make_shared<const std::vector<double>>(std::move(table));
    kept_exponent = size_exponent;
  }
  return kept;
}

}  // namespace

PackingItem& PackingItem::operator+=(const PackingItem& other) {
  weight += other.weight;
  units += other.units;
  largest = std::max(largest, other.largest);
  error += other.error;
  cost += other.cost;
  benefit += other.benefit;
  files += other.files;
  return *this;
}

PackingModel::PackingModel(const PackingLimits& limits) : limits_(limits) {
  healthy_weight_ = std::pow(Units(limits.healthy_size_bytes, limits.target_size_bytes), limits.size_exponent);
  max_weight_ = std::pow(Units(limits.size_max_bytes, limits.target_size_bytes), limits.size_exponent);
  error_table_ = ErrorTable(limits.size_exponent, kTablePoints);
}

PackingItem PackingModel::ItemOf(std::int64_t size_bytes) const {
  PackingItem item;
  item.units = item.largest = Units(size_bytes, limits_.target_size_bytes);
  item.weight = std::pow(item.units, limits_.size_exponent);
  item.error = SquaredShortfall(item.units);
  item.cost = limits_.file_cost + limits_.byte_cost * item.units;
  item.files = 1;
  return item;
}

PackingItem PackingModel::ItemOf(std::int64_t live_bytes, std::int64_t dead_bytes, double benefit) const {
  PackingItem item = ItemOf(live_bytes);
  item.cost += limits_.byte_cost * Units(dead_bytes, limits_.target_size_bytes);
  item.benefit = benefit;
  return item;
}

PackingItem PackingModel::Decided(PackingItem item) {
  item.cost = item.benefit = 0;
  return item;
}

std::int64_t PackingModel::OutputBytes(double weight) const {
  const double units = std::pow(weight, 1 / limits_.size_exponent);
  return static_cast<std::int64_t>(std::ceil(units * static_cast<double>(limits_.target_size_bytes)));
}

PackingItem PackingModel::Joined(const PackingItem& sum) const {
  PackingItem item = Decided(sum);
  item.error = OutputError(sum.weight);
  return item;
}

FileChains::FileChains(std::size_t file_count) : next_(file_count), tail_(file_count) {
  for (std::size_t i = 0; i < file_count; ++i) next_[i] = tail_[i] = static_cast<std::uint32_t>(i);
}

void FileChains::Join(std::uint32_t head, std::uint32_t other) {
  next_[tail_[head]] = other;
  tail_[head] = tail_[other];
}

Bin FileChains::Collect(std::uint32_t head) const {
  Bin files{head};
  // A file that points to itself ends its chain.
  for (std::uint32_t at = head; next_[at] != at;) files.push_back(at = next_[at]);
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace firn::decide
