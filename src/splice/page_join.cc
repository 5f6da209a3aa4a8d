// SPDX-License-Identifier: Apache-2.0
#include "splice/page_join.h"

#include <algorithm>

#include "splice/bit_pack.h"
#include "splice/bloom_build.h"
#include "splice/plain_encode.h"

namespace firn::splice {

namespace {

using parquet::Encoding;

constexpr std::size_t kLevelSlice = 1024;
/// A page of nothing but long runs ends here too, so that readers' buffers stay bounded.
constexpr std::int64_t kPageValuesMax = 1 << 22;

Error Corrupt(const char* what) { return {Code::kCorrupt, what}; }

/// How many of `count` entries belong to at most `rows_max` new rows.
std::size_t EntriesOfRows(const std::uint32_t* repetition, std::size_t count, std::size_t rows_max) {
  if (rows_max >= count) return count;
  std::size_t rows = 0, entries = 0;
  for (; entries < count; ++entries) {
    if (repetition[entries] == 0 && ++rows > rows_max) break;
  }
  return entries;
}

}  // namespace

PageJoin::PageJoin(const OutputColumn& column, const JoinSettings& settings, ChunkWriter& writer, JoinBuffers& buffers,
                   NestingCheck& nesting)
    : column_(column), settings_(settings), writer_(writer), buffers_(buffers), nesting_(nesting) {
  buffers_.values.Reset(ValueMode::kNone, 0);
  buffers_.repetition.Reset(BitWidth(column.max_repetition));
  buffers_.definition.Reset(BitWidth(column.max_definition));
}

std::size_t PageJoin::SizeBytes() const {
  std::size_t size = buffers_.values.SizeBytes();
  if (column_.max_definition > 0) size += buffers_.definition.SizeBytes();
  if (column_.max_repetition > 0) size += buffers_.repetition.SizeBytes();
  return facts_.values >= kPageValuesMax ? std::max(size, settings_.page_size_bytes) : size;
}

bool PageJoin::StartsRow(const JoinPage& page) const {
  if (column_.max_repetition == 0 || (page.rows != nullptr && !page.rows->kept())) return true;
  return splice::StartsRow(page.sections.repetition, column_.max_repetition);
}

/// Ends the page before if the new one does not go with it.
Status PageJoin::Begin(const JoinPage& page) {
  bounds_pending_ = true;
  if (facts_.values > 0 && StartsRow(page)) {
    const std::size_t limit = settings_.page_size_bytes + settings_.page_size_bytes / 4;
    if (Full() || SizeBytes() + page.expected_bytes > limit) FIRN_TRY(Flush());
  }
  if (buffers_.values.mode() == page.mode) return Ok();
  if (facts_.values > 0) {
    if (!StartsRow(page)) return Error{Code::kUnsupported, "a row whose values change their encoding"};
    FIRN_TRY(Flush());
  }
  buffers_.values.Reset(page.mode, settings_.index_width);
  return Ok();
}

Status PageJoin::Append(const JoinPage& page) {
  if (page.starts_chunk && !StartsRow(page)) return Corrupt("the first value does not start a row");
  FIRN_TRY(Begin(page));
  const std::int64_t rows = appended_rows(), non_nulls = appended_non_nulls();
  if (page.rows != nullptr) {
    FIRN_TRY(column_.max_repetition == 0 ? AppendFlatRows(page) : AppendNestedRows(page));
  } else {
    FIRN_TRY(column_.max_repetition == 0 ? AppendFlat(page) : AppendNested(page));
    FIRN_TRY(CheckCounts(page, appended_rows() - rows, appended_non_nulls() - non_nulls));
  }
  return page.feed->AtEnd() ? Ok() : Status(Corrupt("values behind those that the levels tell of"));
}

Status PageJoin::CheckCounts(const JoinPage& page, std::int64_t rows, std::int64_t non_nulls) const {
  if (page.header_rows && *page.header_rows != rows) return Corrupt("another number of rows than its header says");
  if (page.header_nulls && *page.header_nulls != page.num_values - non_nulls) {
    return Corrupt("another number of nulls than its header says");
  }
  return Ok();
}

Status PageJoin::TakeValues(const JoinPage& page, std::size_t count) {
  if (count == 0) return Ok();
  FIRN_TRY(page.feed->Take(count, buffers_.values));
  if (bounds_pending_) facts_.bounds.Merge(page.bounds, column_.order);
  bounds_pending_ = false;
  page_non_nulls_ += static_cast<std::int64_t>(count);
  return Ok();
}

Status PageJoin::AppendFlat(const JoinPage& page) {
  const LevelMap& map = *page.levels;
  const bool input_has_levels = map.input_max_definition > 0;
  const std::size_t step_max = page.feed->StepMax();
  HybridReader reader(page.sections.definition, BitWidth(map.input_max_definition));
  std::uint32_t levels[kLevelSlice];
  for (auto left = static_cast<std::size_t>(page.num_values); left > 0;) {
    if (facts_.values > 0 && Full()) FIRN_TRY(Flush());
    std::size_t step = std::min({left, step_max, RowRoom()});
    std::uint32_t value = map.input_max_definition;
    if (input_has_levels) {
      if (const std::size_t run = reader.Repeated(value); run > 0) {
        step = std::min(step, run);
        reader.SkipRepeated(step);
      } else {
        step = std::min(step, kLevelSlice);
        if (reader.Read(levels, step) != step) return Corrupt("definition levels end early");
        FIRN_TRY(AppendLevels(page, nullptr, levels, step));
        left -= step;
        continue;
      }
    }
    if (value > map.input_max_definition) return Corrupt("definition level above its maximum");
    if (column_.max_definition > 0) buffers_.definition.AppendRun(map.identity() ? value : map.definition[value], step);
    FIRN_TRY(TakeValues(page, value == map.input_max_definition ? step : 0));
    facts_.values += static_cast<std::int64_t>(step);
    page_rows_ += static_cast<std::int64_t>(step);
    left -= step;
  }
  return reader.AtEnd() ? Ok() : Status(Corrupt("more definition levels than values"));
}

Status PageJoin::AppendNested(const JoinPage& page) {
  const LevelMap& map = *page.levels;
  HybridReader repetitions(page.sections.repetition, BitWidth(column_.max_repetition));
  HybridReader definitions(page.sections.definition, BitWidth(map.input_max_definition));
  std::uint32_t repetition[kLevelSlice], definition[kLevelSlice];
  const std::size_t step_max = std::min(page.feed->StepMax(), kLevelSlice);
  for (auto left = static_cast<std::size_t>(page.num_values); left > 0;) {
    const std::size_t step = std::min(left, step_max);
    if (repetitions.Read(repetition, step) != step) return Corrupt("repetition levels end early");
    if (definitions.Read(definition, step) != step) return Corrupt("definition levels end early");
    FIRN_TRY(AppendNestedSlice(page, repetition, definition, step));
    left -= step;
  }
  if (!repetitions.AtEnd() || !definitions.AtEnd()) return Corrupt("more levels than values");
  return Ok();
}

Status PageJoin::AppendNestedSlice(const JoinPage& page, const std::uint32_t* repetition, std::uint32_t* definition,
                                   std::size_t count) {
  while (count > 0) {
    std::size_t take = 0;
    if (facts_.values > 0 && Full()) {
      // The page ends at the next row.
      while (take < count && repetition[take] != 0) ++take;
      FIRN_TRY(AppendLevels(page, repetition, definition, take));
      if (take < count) FIRN_TRY(Flush());
    } else {
      take = EntriesOfRows(repetition, count, RowRoom());
      FIRN_TRY(AppendLevels(page, repetition, definition, take));
    }
    repetition += take;
    definition += take;
    count -= take;
  }
  return Ok();
}

/// Levels of the input and their values. `definition` is overwritten.
Status PageJoin::AppendLevels(const JoinPage& page, const std::uint32_t* repetition, std::uint32_t* definition,
                              std::size_t count) {
  if (count == 0) return Ok();
  const LevelMap& map = *page.levels;
  std::size_t non_nulls = 0, rows = count;
  std::uint32_t highest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    highest = std::max(highest, definition[i]);
    non_nulls += definition[i] == map.input_max_definition ? 1 : 0;
  }
  if (highest > map.input_max_definition) return Corrupt("definition level above its maximum");
  if (!map.identity()) {
    for (std::size_t i = 0; i < count; ++i) definition[i] = map.definition[definition[i]];
  }
  if (column_.max_definition > 0) buffers_.definition.Append(definition, count);
  if (repetition != nullptr) {
    rows = 0;
    highest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      highest = std::max(highest, repetition[i]);
      rows += repetition[i] == 0 ? 1 : 0;
    }
    if (highest > column_.max_repetition) return Corrupt("repetition level above its maximum");
    buffers_.repetition.Append(repetition, count);
    FIRN_TRY(nesting_.Add(repetition, definition, count));
  }
  facts_.values += static_cast<std::int64_t>(count);
  page_rows_ += static_cast<std::int64_t>(rows);
  return TakeValues(page, non_nulls);
}

Status PageJoin::AppendRows(std::int64_t rows, ValueFeed* feed, ValueMode mode, const BoundsView& bounds) {
  JoinPage page;
  page.mode = mode;
  page.feed = feed;
  page.bounds = bounds;
  bounds_pending_ = true;
  if (buffers_.values.mode() != mode) {
    if (facts_.values > 0 && feed != nullptr) FIRN_TRY(Flush());
    if (facts_.values == 0) buffers_.values.Reset(mode, settings_.index_width);
  }
  while (rows > 0) {
    if (facts_.values > 0 && Full()) FIRN_TRY(Flush());
    const std::size_t limit = feed == nullptr ? std::size_t{kPageValuesMax} : feed->StepMax();
    const std::size_t step = std::min({static_cast<std::size_t>(rows), limit, RowRoom()});
    if (column_.max_repetition > 0) buffers_.repetition.AppendRun(0, step);
    if (column_.max_definition > 0) buffers_.definition.AppendRun(feed == nullptr ? 0 : column_.max_definition, step);
    if (feed != nullptr) FIRN_TRY(TakeValues(page, step));
    facts_.values += static_cast<std::int64_t>(step);
    page_rows_ += static_cast<std::int64_t>(step);
    rows -= static_cast<std::int64_t>(step);
  }
  return Ok();
}

/// The value section of the page.
Result<ByteView> PageJoin::EncodeValues(Encoding& encoding) {
  PageValues& values = buffers_.values;
  switch (values.mode()) {
    case ValueMode::kIndices: {
      const ByteView indices = values.indices().Finish();
      buffers_.encoded.Clear();
      buffers_.encoded.AppendByte(static_cast<std::uint8_t>(values.indices().width()));
      buffers_.encoded.Append(indices);
      encoding = Encoding::kRleDictionary;
      return buffers_.encoded.view();
    }
    case ValueMode::kBits: encoding = Encoding::kPlain; return values.bits();
    case ValueMode::kNone: encoding = Encoding::kPlain; return ByteView();
    case ValueMode::kPlain: break;
  }
  encoding = settings_.plain_encoding;
  if (encoding == Encoding::kPlain) return values.plain_values();
  buffers_.encoded.Clear();
  FIRN_TRY(EncodePlainAs(encoding, column_, values.plain_values(), static_cast<std::size_t>(page_non_nulls_),
                         buffers_.encoded));
  return buffers_.encoded.view();
}

void PageJoin::AppendLevelSection(HybridWriter& levels, RawBuffer& out) const {
  const ByteView bytes = levels.Finish();
  if (!settings_.v2) {
    StoreLittle(out.Room(4), static_cast<std::uint32_t>(bytes.size()));
    out.Advance(4);
  }
  out.Append(bytes);
}

Status PageJoin::Flush() {
  if (facts_.values == 0) return Ok();
  parquet::PageHeader header;
  header.type = settings_.v2 ? parquet::PageType::kDataV2 : parquet::PageType::kData;
  RawBuffer& body = buffers_.body;
  body.Clear();
  if (column_.max_repetition > 0) AppendLevelSection(buffers_.repetition, body);
  const std::size_t repetition_bytes = body.size();
  if (column_.max_definition > 0) AppendLevelSection(buffers_.definition, body);
  const std::size_t level_bytes = body.size();
  if (settings_.bloom != nullptr && buffers_.values.mode() == ValueMode::kPlain) {
    settings_.bloom->AddValues(buffers_.values.plain_values(), static_cast<std::size_t>(page_non_nulls_));
  }
  FIRN_ASSIGN(const ByteView values, EncodeValues(header.encoding));
  if (settings_.exact_bounds) FIRN_TRY(FindExactBounds(values));
  facts_.rows = page_rows_;
  facts_.nulls = facts_.values - page_non_nulls_;
  const std::int64_t page_values = facts_.values;
  if (settings_.v2) {
    header.repetition_levels_bytes = static_cast<std::int32_t>(repetition_bytes);
    header.definition_levels_bytes = static_cast<std::int32_t>(level_bytes - repetition_bytes);
    FIRN_TRY(writer_.WritePage(header, body.view(), values, std::move(facts_)));
  } else {
    ByteView whole;
    const bool in_place = buffers_.values.mode() == ValueMode::kPlain && header.encoding == Encoding::kPlain;
    if (in_place && level_bytes <= PageValues::kHeadroom) {
      whole = buffers_.values.PutBefore(body.view());
    } else {
      body.Append(values);
      whole = body.view();
    }
    FIRN_TRY(writer_.WritePage(header, {}, whole, std::move(facts_)));
  }
  rows_ += page_rows_;
  non_nulls_ += page_non_nulls_;
  values_ += page_values;
  facts_ = PageFacts();
  page_rows_ = page_non_nulls_ = 0;
  bounds_pending_ = true;
  const ValueMode mode = buffers_.values.mode();
  buffers_.values.Reset(mode, settings_.index_width);
  buffers_.repetition.Reset(buffers_.repetition.width());
  buffers_.definition.Reset(buffers_.definition.width());
  return Ok();
}

}  // namespace firn::splice
