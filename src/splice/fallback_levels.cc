// SPDX-License-Identifier: Apache-2.0
#include "splice/fallback_levels.h"

#include <algorithm>

namespace firn::splice {

namespace {

using parquet::NestKind;
using parquet::NestNode;
using parquet::NestPath;

bool HasEntries(const NestNode& node) { return node.kind == NestKind::kList || node.kind == NestKind::kMap; }

/// The levels at which the first `steps` nodes begin to be there, and to have entries. They never fall.
std::vector<std::int16_t> StagesOf(const NestPath& path, std::size_t steps) {
  std::vector<std::int16_t> stages = {0};
  for (std::size_t i = 0; i < steps; ++i) {
    stages.push_back(path[i]->present_level);
    if (HasEntries(*path[i])) stages.push_back(path[i]->entry_level);
  }
  return stages;
}

/// Which child of its parent a step is: maps have two. Struct fields are matched by the caller.
std::ptrdiff_t MapSide(const NestPath& path, std::size_t step) {
  if (step == 0 || path[step - 1]->kind != NestKind::kMap) return 0;
  return path[step] - path[step - 1]->children.data();
}

bool SameShape(const NestPath& a, const NestPath& b, std::size_t steps) {
  if (a.size() < steps || b.size() < steps) return false;
  for (std::size_t i = 0; i < steps; ++i) {
    if (a[i]->kind != b[i]->kind || MapSide(a, i) != MapSide(b, i)) return false;
  }
  return true;
}

LevelTable TableOf(const std::vector<std::int16_t>& from, const std::vector<std::int16_t>& to,
                   std::int16_t input_level_max) {
  LevelTable table;
  for (std::int16_t level = 0; level <= input_level_max; ++level) {
    // The last stage that this level reaches: stages with equal levels are reached together.
    const auto above = std::upper_bound(from.begin(), from.end(), level);
    const auto stage = static_cast<std::size_t>(above - from.begin()) - 1;
    const bool stops_here = stage + 1 < to.size();
    const bool cannot_stop = stops_here && to[stage + 1] == to[stage];
    table.definition.push_back(cannot_stop ? LevelTable::kForbidden : to[stage]);
  }
  return table;
}

}  // namespace

Result<LevelTable> TranslateLevels(const NestPath& from, const NestPath& to) {
  if (from.size() != to.size() || !SameShape(from, to, from.size())) {
    return Error{Code::kUnsupported, "it is nested in another way"};
  }
  LevelTable table = TableOf(StagesOf(from, from.size()), StagesOf(to, to.size()), from.back()->present_level);
  table.repetition_max = from.back()->repetition_level;
  return table;
}

std::size_t CommonSteps(const NestPath& a, const NestPath& b) {
  const auto [first, second] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  static_cast<void>(second);
  return static_cast<std::size_t>(first - a.begin());
}

Result<LevelTable> LevelsOfMissing(const NestPath& from, const NestPath& to, const NestPath& missing, bool has_value) {
  const std::size_t steps = CommonSteps(to, missing);
  if (steps == 0 || to[steps - 1]->kind != NestKind::kStruct || !SameShape(from, to, steps)) {
    return Error{Code::kUnsupported, "nothing in the file tells where its struct is null"};
  }
  const std::vector<std::int16_t> input = StagesOf(from, steps);
  std::vector<std::int16_t> output = StagesOf(missing, steps);
  LevelTable table = TableOf(input, output, from.back()->present_level);
  table.repetition_max = from[steps - 1]->repetition_level;
  const std::int16_t value_level = missing.back()->present_level;
  const bool null_allowed = missing[steps]->present_level > output.back();
  for (std::size_t level = 0; level < table.definition.size(); ++level) {
    if (static_cast<std::int16_t>(level) < input.back()) continue;
    if (has_value) {
      table.definition[level] = value_level;
    } else if (!null_allowed) {
      table.definition[level] = LevelTable::kForbidden;
    }
  }
  return table;
}

}  // namespace firn::splice
