// SPDX-License-Identifier: Apache-2.0
// How PageJoin takes the rows that stay out of a page, and fills rows that have no value.
#include <algorithm>

#include "splice/bit_pack.h"
#include "splice/exact_bounds.h"
#include "splice/page_join.h"

namespace firn::splice {

namespace {

constexpr std::size_t kLevelSlice = 1024;

Error Corrupt(const char* what) { return {Code::kCorrupt, what}; }

/// Passes levels and counts those of values.
Status SkipLevels(HybridReader& definitions, std::uint32_t max_level, std::size_t count, std::size_t& values) {
  std::uint32_t levels[kLevelSlice];
  while (count > 0) {
    std::uint32_t level = 0;
    std::size_t step = std::min(definitions.Repeated(level), count);
    if (step > 0) {
      definitions.SkipRepeated(step);
      values += level == max_level ? step : 0;
    } else {
      step = std::min(count, kLevelSlice);
      if (definitions.Read(levels, step) != step) return Corrupt("definition levels end early");
      values += static_cast<std::size_t>(std::count(levels, levels + step, max_level));
    }
    count -= step;
  }
  return Ok();
}

}  // namespace

Status PageJoin::AppendFlatRows(const JoinPage& page) {
  const std::uint32_t max_level = page.levels->input_max_definition;
  HybridReader definitions(page.sections.definition, BitWidth(max_level));
  const auto step_max = static_cast<std::int64_t>(page.feed->StepMax());
  for (std::int64_t left = page.num_values; left > 0;) {
    if (facts_.values > 0 && Full()) FIRN_TRY(Flush());
    const std::int64_t row = page.rows->next_row();
    const RowCursor::Run run = page.rows->PassRun(std::min({left, step_max, static_cast<std::int64_t>(RowRoom())}));
    const auto count = static_cast<std::size_t>(run.rows);
    left -= run.rows;
    if (run.kept) {
      FIRN_TRY(AppendRun(page, definitions, row, count));
      continue;
    }
    std::size_t values = max_level > 0 ? 0 : count;
    if (max_level > 0) FIRN_TRY(SkipLevels(definitions, max_level, count, values));
    FIRN_TRY(page.feed->Skip(values));
  }
  return definitions.AtEnd() ? Ok() : Status(Corrupt("more definition levels than values"));
}

/// Rows that stay.
Status PageJoin::AppendRun(const JoinPage& page, HybridReader& definitions, std::int64_t row, std::size_t count) {
  const std::uint32_t max_level = page.levels->input_max_definition;
  if (max_level == 0) return AppendLevel(page, 0, row, count);
  std::uint32_t levels[kLevelSlice];
  while (count > 0) {
    std::uint32_t level = 0;
    std::size_t step = std::min(definitions.Repeated(level), count);
    if (step > 0) {
      definitions.SkipRepeated(step);
      FIRN_TRY(AppendLevel(page, level, row, step));
    } else {
      step = std::min(count, kLevelSlice);
      if (definitions.Read(levels, step) != step) return Corrupt("definition levels end early");
      FIRN_TRY(page.fill == nullptr ? AppendLevels(page, nullptr, levels, step)
                                    : AppendFilled(page, levels, row, step));
    }
    row += static_cast<std::int64_t>(step);
    count -= step;
  }
  return Ok();
}

/// Rows of one definition level of the input.
Status PageJoin::AppendLevel(const JoinPage& page, std::uint32_t level, std::int64_t row, std::size_t count) {
  const LevelMap& map = *page.levels;
  if (level > map.input_max_definition) return Corrupt("definition level above its maximum");
  const bool has_values = level == map.input_max_definition;
  const bool filled = !has_values && page.fill != nullptr;
  if (column_.max_definition > 0) {
    const std::uint32_t mapped = map.identity() ? level : map.definition[level];
    buffers_.definition.AppendRun(filled ? column_.max_definition : mapped, count);
  }
  facts_.values += static_cast<std::int64_t>(count);
  page_rows_ += static_cast<std::int64_t>(count);
  if (!filled) return TakeValues(page, has_values ? count : 0);
  page.fill->Append(row, count, page.fill_index, buffers_.values);
  page_non_nulls_ += static_cast<std::int64_t>(count);
  return Ok();
}

Status PageJoin::AppendFilled(const JoinPage& page, const std::uint32_t* levels, std::int64_t row, std::size_t count) {
  for (std::size_t i = 0; i < count;) {
    std::size_t end = i + 1;
    while (end < count && levels[end] == levels[i]) ++end;
    FIRN_TRY(AppendLevel(page, levels[i], row + static_cast<std::int64_t>(i), end - i));
    i = end;
  }
  return Ok();
}

Status PageJoin::AppendNestedRows(const JoinPage& page) {
  const std::uint32_t max_level = page.levels->input_max_definition;
  HybridReader repetitions(page.sections.repetition, BitWidth(column_.max_repetition));
  HybridReader definitions(page.sections.definition, BitWidth(max_level));
  std::uint32_t repetition[kLevelSlice], definition[kLevelSlice];
  const std::size_t step_max = std::min(page.feed->StepMax(), kLevelSlice);
  RowCursor& rows = *page.rows;
  for (auto left = static_cast<std::size_t>(page.num_values); left > 0;) {
    const std::size_t step = std::min(left, step_max);
    if (repetitions.Read(repetition, step) != step) return Corrupt("repetition levels end early");
    if (definitions.Read(definition, step) != step) return Corrupt("definition levels end early");
    for (std::size_t i = 0; i < step;) {
      // Entries of rows that all stay or all go, the rest of a row from the slice before among them.
      if (repetition[i] == 0) rows.Enter();
      const bool kept = rows.kept();
      std::size_t end = i + 1;
      for (; end < step && (repetition[end] != 0 || rows.next_stays() == kept); ++end) {
        if (repetition[end] == 0) rows.Enter();
      }
      if (kept) {
        FIRN_TRY(AppendNestedSlice(page, repetition + i, definition + i, end - i));
      } else {
        FIRN_TRY(page.feed->Skip(static_cast<std::size_t>(std::count(definition + i, definition + end, max_level))));
      }
      i = end;
    }
    left -= step;
  }
  if (!repetitions.AtEnd() || !definitions.AtEnd()) return Corrupt("more levels than values");
  return Ok();
}

/// Of the page's values, in place of what was merged from the inputs.
Status PageJoin::FindExactBounds(ByteView encoded) {
  const auto count = static_cast<std::size_t>(page_non_nulls_);
  facts_.bounds = Bounds();
  if (count == 0) return Ok();
  switch (buffers_.values.mode()) {
    case ValueMode::kIndices:
      if (settings_.entries == nullptr) return Error{Code::kInternal, "bounds of a dictionary that is not there"};
      facts_.bounds = BoundsOfIndices(column_, encoded, count, *settings_.entries);
      break;
    case ValueMode::kBits: facts_.bounds = BoundsOfBits(encoded, count); break;
    case ValueMode::kPlain: facts_.bounds = BoundsOfPlain(column_, buffers_.values.plain_values(), count); break;
    case ValueMode::kNone: break;
  }
  bounds_.Merge(facts_.bounds, column_.order);
  return Ok();
}

}  // namespace firn::splice
