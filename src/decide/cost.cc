// SPDX-License-Identifier: Apache-2.0
#include "decide/cost.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace firn::decide {
namespace {

struct LevelCost {
  int level;
  double ns_per_byte;  // of inputs of the same codec, beside what a quick codec takes
};

// 12 files of 2.8 MB (numbers, times, words, sentences; 100,000 rows each), joined on one core.
constexpr LevelCost kGzip[] = {{1, 8}, {3, 14}, {6, 25}, {9, 165}};
constexpr LevelCost kZstd[] = {{1, 3}, {3, 6}, {6, 17}, {9, 35}, {12, 60}, {15, 233}, {19, 630}, {22, 844}};
constexpr LevelCost kBrotli[] = {{1, 8}, {4, 24}, {9, 196}, {11, 2360}};

struct CodecCost {
  std::string_view codec;
  std::span<const LevelCost> levels;
  int usual_level;
};
const CodecCost kCodecs[] = {{"gzip", kGzip, 6}, {"zstd", kZstd, 1}, {"brotli", kBrotli, 1}};

/// Between two levels the logarithm is on a line.
double At(std::span<const LevelCost> levels, int level) {
  const auto above = std::ranges::lower_bound(levels, level, {}, &LevelCost::level);
  if (above == levels.begin()) return above->ns_per_byte;
  if (above == levels.end()) return levels.back().ns_per_byte;
  const LevelCost& below = *std::prev(above);
  const double part = static_cast<double>(level - below.level) / static_cast<double>(above->level - below.level);
  return below.ns_per_byte * std::pow(above->ns_per_byte / below.ns_per_byte, part);
}

}  // namespace

CostModel CostModelOf(std::string_view codec, std::optional<int> level) {
  CostModel cost;
  const auto known = std::ranges::find(kCodecs, codec, &CodecCost::codec);
  if (known == std::end(kCodecs)) return cost;
  const double seconds = 1 / cost.input_bytes_per_second + At(known->levels, level.value_or(known->usual_level)) * 1e-9;
  cost.input_bytes_per_second = 1 / seconds;
  return cost;
}

}  // namespace firn::decide
