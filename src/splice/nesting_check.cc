// SPDX-License-Identifier: Apache-2.0
#include "splice/nesting_check.h"

#include <algorithm>
#include <map>
#include <utility>

#include "splice/bit_pack.h"
#include "splice/hybrid.h"
#include "splice/index_kernels.h"

namespace firn::splice {

void NestingCheck::Begin() {
  last_definition_ = 0;
  prints_.assign(column_.shared_lists.size(), 0);
}

Status NestingCheck::Add(const std::uint32_t* repetition, const std::uint32_t* definition, std::size_t count) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15ULL;
  const std::uint32_t* const needed = column_.element_definitions.data();
  bool broken = false;
  std::uint32_t last = last_definition_;
  for (std::size_t i = 0; i < count; ++i) {
    broken |= last < needed[repetition[i]];
    last = definition[i];
  }
  last_definition_ = last;
  if (broken) return Error{Code::kCorrupt, "an element that goes on a list without elements"};
  for (std::size_t list = 0; list < prints_.size(); ++list) {
    const SharedList& shared = column_.shared_lists[list];
    std::uint64_t print = prints_[list];
    for (std::size_t i = 0; i < count; ++i) {
      if (repetition[i] > shared.repetition) continue;  // inside of an element
      const std::uint64_t level = std::uint64_t{repetition[i]} << 32 | std::min(definition[i], shared.definition);
      print = (print ^ (level + 1)) * kFactor;
      print ^= print >> 29;
    }
    prints_[list] = print;
  }
  return Ok();
}

Result<std::int64_t> CountRows(const OutputColumn& column, const PageSections& sections, std::int64_t num_values,
                               NestingCheck& nesting) {
  constexpr std::size_t kSlice = 1024;
  std::uint32_t repetition[kSlice], definition[kSlice];
  HybridReader repetitions(sections.repetition, BitWidth(column.max_repetition));
  HybridReader definitions(sections.definition, BitWidth(column.max_definition));
  std::int64_t rows = 0;
  for (auto left = static_cast<std::size_t>(num_values); left > 0;) {
    const std::size_t step = std::min(left, kSlice);
    if (repetitions.Read(repetition, step) != step || definitions.Read(definition, step) != step) {
      return Error{Code::kCorrupt, "levels end early"};
    }
    if (MaxOf(repetition, step) > column.max_repetition || MaxOf(definition, step) > column.max_definition) {
      return Error{Code::kCorrupt, "a level above its maximum"};
    }
    if (rows == 0 && repetition[0] != 0) return Error{Code::kCorrupt, "it does not start a row"};
    rows += std::count(repetition, repetition + step, 0U);
    FIRN_TRY(nesting.Add(repetition, definition, step));
    left -= step;
  }
  if (!repetitions.AtEnd() || !definitions.AtEnd()) return Error{Code::kCorrupt, "more levels than values"};
  return rows;
}

Status CompareLevels(const std::vector<OutputColumn>& columns, const std::vector<std::vector<InputPrints>>& prints) {
  struct First {
    std::uint64_t print;
    std::size_t column;
  };
  std::map<std::pair<std::int32_t, std::size_t>, First> seen;  // by list and input
  for (std::size_t column = 0; column < prints.size(); ++column) {
    for (std::size_t input = 0; input < prints[column].size(); ++input) {
      const InputPrints& found = prints[column][input];
      for (std::size_t list = 0; list < found.shared.size(); ++list) {
        const std::int32_t element = columns[column].shared_lists[list].element;
        const auto [first, added] = seen.try_emplace({element, input}, First{found.shared[list], column});
        if (added || first->second.print == found.shared[list]) continue;
        return Error{Code::kCorrupt, found.place + ": column " + std::to_string(column) +
                                         " has other lists than column " + std::to_string(first->second.column) +
                                         " beside it"};
      }
    }
  }
  return Ok();
}

}  // namespace firn::splice
