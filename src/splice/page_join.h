// SPDX-License-Identifier: Apache-2.0
//
// Joins pages of one column into pages of a good size, at the level of their encodings.
//
// In: opened input pages in row order, with a feed for their values. Out: pages to a ChunkWriter. Rows that are deleted
//   are left out on the way, and nulls can be filled.
// Guarantees: output pages begin at row boundaries; levels are checked against their maximum; each page must hold as
//   many levels, values, rows and nulls as its header and levels say, and nothing behind them. Pages are split only
//   where they would grow far beyond the wanted size.
// Cost: levels: nothing for runs, 2 ns for others; values: see page_values.h; a compression a finished page.
// Errors: kCorrupt without a place: the caller adds input and offset.
// Threads: one owner.
// Source: README.md "Nested Encoding"; PageIndex.md (pages begin at row boundaries).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/result.h"
#include "splice/chunk_writer.h"
#include "splice/lineage.h"
#include "splice/nesting_check.h"
#include "splice/page_open.h"
#include "splice/page_values.h"
#include "splice/schema_match.h"

namespace firn::splice {

class BloomBuild;

struct JoinSettings {
  std::size_t page_size_bytes = 1 << 20;
  std::int64_t page_rows_max = std::numeric_limits<std::int64_t>::max();
  bool v2 = false;
  unsigned index_width = 0;
  parquet::Encoding plain_encoding = parquet::Encoding::kPlain;  // of pages that are not dictionary-encoded
  bool exact_bounds = false;                                     // of the pages made here: found from their values
  const EntryTable* entries = nullptr;  // of the output's dictionary, if bounds are to be exact
  BloomBuild* bloom = nullptr;          // gets the values of pages that are not dictionary-encoded
};

struct JoinPage {
  PageSections sections;
  std::int64_t num_values = 0;
  const LevelMap* levels = nullptr;
  ValueFeed* feed = nullptr;
  ValueMode mode = ValueMode::kNone;
  bool starts_chunk = false;  // so it must start a row
  std::optional<std::int64_t> header_rows, header_nulls;
  std::size_t expected_bytes = 0;     // of its values in the output, about
  BoundsView bounds;                  // of its values, if known
  RowCursor* rows = nullptr;          // which rows stay; null: all of them
  const LineageFill* fill = nullptr;  // with `rows`, flat columns: what rows without a value hold
  std::uint32_t fill_index = 0;
};

/// What a thread keeps between columns, so that memory is touched once.
struct JoinBuffers {
  PageValues values;
  HybridWriter repetition, definition;
  RawBuffer body, encoded;
};

class PageJoin {
 public:
  /// `nesting` gets the levels of nested pages.
  PageJoin(const OutputColumn& column, const JoinSettings& settings, ChunkWriter& writer, JoinBuffers& buffers,
           NestingCheck& nesting);

  Status Append(const JoinPage& page);
  /// `rows` rows of one value, or of null on the level of the top field when there is no feed.
  Status AppendRows(std::int64_t rows, ValueFeed* feed, ValueMode mode, const BoundsView& bounds);
  /// Ends the page that is being built.
  Status Flush();

  /// Appended since the start, the page that is being built included.
  std::int64_t appended_rows() const { return rows_ + page_rows_; }
  std::int64_t appended_non_nulls() const { return non_nulls_ + page_non_nulls_; }
  std::int64_t appended_values() const { return values_ + facts_.values; }
  /// Of the page that is being built, before compression.
  std::size_t pending_bytes() const { return facts_.values > 0 ? SizeBytes() : 0; }
  /// With exact_bounds: of all finished pages.
  const Bounds& bounds() const { return bounds_; }

 private:
  Status Begin(const JoinPage& page);
  Status CheckCounts(const JoinPage& page, std::int64_t rows, std::int64_t non_nulls) const;
  Status AppendFlat(const JoinPage& page);
  Status AppendNested(const JoinPage& page);
  Status AppendFlatRows(const JoinPage& page);
  Status AppendRun(const JoinPage& page, HybridReader& definitions, std::int64_t row, std::size_t count);
  Status AppendLevel(const JoinPage& page, std::uint32_t level, std::int64_t row, std::size_t count);
  Status AppendFilled(const JoinPage& page, const std::uint32_t* levels, std::int64_t row, std::size_t count);
  Status AppendNestedRows(const JoinPage& page);
  Status AppendNestedSlice(const JoinPage& page, const std::uint32_t* repetition, std::uint32_t* definition,
                           std::size_t count);
  Status FindExactBounds(ByteView encoded);
  Status AppendLevels(const JoinPage& page, const std::uint32_t* repetition, std::uint32_t* definition,
                      std::size_t count);
  Status TakeValues(const JoinPage& page, std::size_t count);
  std::size_t SizeBytes() const;
  bool Full() const { return page_rows_ >= settings_.page_rows_max || SizeBytes() >= settings_.page_size_bytes; }
  /// Rows that the page may still get, once it is not full.
  std::size_t RowRoom() const { return static_cast<std::size_t>(settings_.page_rows_max - page_rows_); }
  bool StartsRow(const JoinPage& page) const;
  Result<ByteView> EncodeValues(parquet::Encoding& encoding);
  void AppendLevelSection(HybridWriter& levels, RawBuffer& out) const;

  const OutputColumn& column_;
  JoinSettings settings_;
  ChunkWriter& writer_;
  JoinBuffers& buffers_;
  NestingCheck& nesting_;
  PageFacts facts_;  // of the page that is being built
  std::int64_t page_rows_ = 0, page_non_nulls_ = 0;
  bool bounds_pending_ = false;  // the input page's bounds are not yet in facts_
  std::int64_t rows_ = 0, non_nulls_ = 0, values_ = 0;
  Bounds bounds_;
};

}  // namespace firn::splice
