// SPDX-License-Identifier: Apache-2.0
#include "simulate/spark_groups.h"

#include <algorithm>
#include <cmath>

namespace firn::simulate {
namespace {

constexpr double kMinFraction = 0.75, kMaxFraction = 1.8, kDeleteRatio = 0.3;
constexpr std::int64_t kGroupBytesMax = std::int64_t{100} << 30;
constexpr std::size_t kMinInputFiles = 5;

bool HasManyDeletes(const StoredFile& file) {
  return static_cast<double>(file.dead_rows) >= kDeleteRatio * static_cast<double>(file.rows) && file.dead_rows > 0;
}

std::int64_t BytesOf(const std::vector<const StoredFile*>& files) {
  std::int64_t bytes = 0;
  for (const StoredFile* file : files) bytes += file->size_bytes;
  return bytes;
}

bool IsWorthRewriting(const std::vector<const StoredFile*>& files, double target) {
  const auto bytes = static_cast<double>(BytesOf(files));
  return (files.size() > 1 && (files.size() >= kMinInputFiles || bytes > target)) || bytes > kMaxFraction * target ||
         std::ranges::any_of(files, [](const StoredFile* file) { return HasManyDeletes(*file); });
}

/// As many as the bytes need; a small rest is spread over the others if they stay within a tenth of the target.
std::int32_t OutputCount(double bytes, double target) {
  if (bytes < target) return 1;
  const double without_rest = std::floor(bytes / target);
  const bool rest_is_file = std::fmod(bytes, target) > kMinFraction * target;
  const bool can_spread = bytes / without_rest < 1.1 * target;
  return static_cast<std::int32_t>(!rest_is_file && can_spread ? without_rest : std::ceil(bytes / target));
}

}  // namespace

Merge MergeOf(const std::vector<const StoredFile*>& files, std::int32_t outputs, std::int64_t target_size_bytes,
              const decide::CostModel& cost) {
  Merge merge;
  double weight = 0;
  for (const StoredFile* file : files) {
    merge.inputs.push_back({file->id, file->dead_rows, file->hidden_rows});
    merge.input_bytes += file->size_bytes;
    const double live = static_cast<double>(file->size_bytes) * static_cast<double>(file->rows - file->dead_rows) /
                        static_cast<double>(std::max<std::int64_t>(file->rows, 1));
    weight += std::pow(live / static_cast<double>(target_size_bytes), cost.size_exponent);
  }
  merge.outputs = outputs;
  const double units = std::pow(weight / outputs, 1 / cost.size_exponent);
  merge.output_bytes =
      std::min(static_cast<std::int64_t>(std::ceil(units * static_cast<double>(target_size_bytes))), merge.input_bytes);
  merge.seconds = decide::PredictSeconds(cost, merge.input_bytes, static_cast<std::int64_t>(files.size()));
  return merge;
}

std::vector<Merge> SparkGroups(const StoredPartition& partition, std::int64_t target_size_bytes,
                               const decide::CostModel& cost) {
  const auto target = static_cast<double>(target_size_bytes);
  std::vector<std::vector<const StoredFile*>> groups;
  std::int64_t bytes = kGroupBytesMax;
  for (const StoredFile& file : partition.files) {
    const auto size = static_cast<double>(file.size_bytes);
    if (size >= kMinFraction * target && size <= kMaxFraction * target && !HasManyDeletes(file)) continue;
    if (groups.empty() || bytes + file.size_bytes > kGroupBytesMax) {
      groups.emplace_back();
      bytes = 0;
    }
    groups.back().push_back(&file);
    bytes += file.size_bytes;
  }
  std::vector<Merge> merges;
  for (const auto& group : groups) {
    if (!IsWorthRewriting(group, target)) continue;
    merges.push_back(MergeOf(group, OutputCount(static_cast<double>(BytesOf(group)), target), target_size_bytes, cost));
  }
  return merges;
}

}  // namespace firn::simulate
