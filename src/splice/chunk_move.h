// SPDX-License-Identifier: Apache-2.0
//
// Moves the pages of one input chunk into the output chunk: copied, joined, or with deleted rows left out.
//
// In: a scanned chunk, and what its pages are known to hold. Out: pages at the writer, or values in the page that is
//   being built.
// Guarantees: as many rows as the row group has, less the deleted ones, or an error. Of a chunk with deleted rows only
//   pages that hold some are opened: others are copied if they may be, and those without any row left are not read.
//   Of a chunk that joins others, large pages that say the same beside another dictionary may be copied.
// Cost: copied pages: their bytes. Others: decompression, about 1 ns a value.
// Errors: kCorrupt, kUnsupported, kLimit with input and offset; those of the sink.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "splice/column_merge.h"
#include "splice/dictionary_choice.h"
#include "splice/page_open.h"

namespace firn::splice {

/// Pages with fewer bytes, uncompressed, are joined with others.
constexpr std::int64_t CopyBytesMin(Effort effort) { return effort == Effort::kFast ? 8 << 10 : 64 << 10; }

/// What went out of a chunk that was not copied as a whole.
struct MovedChunk {
  std::int64_t values = 0;  // nulls included
  std::optional<std::int64_t> non_nulls = 0;
  std::int64_t copied_bytes = 0;
  bool copied_indices = false;
  Bounds copied_bounds;  // of copied pages
};

class ChunkMover {
 public:
  /// `nesting`, if given, gets the levels of copied pages.
  ChunkMover(const OutputColumn& column, const MergeSettings& settings, const DictionaryChoice& choice,
             PageOpener& opener, MergeBuffers& buffers, ChunkWriter& writer, PageJoin& join, NestingCheck* nesting)
      : column_(column),
        settings_(settings),
        choice_(choice),
        opener_(opener),
        buffers_(buffers),
        writer_(writer),
        join_(join),
        nesting_(nesting) {}

  /// All pages as they are stored.
  Status Copy(const ColumnInput& input, SourceFacts& facts);
  /// `index` of the input among the column's. With `copied_encoding`, large pages of that encoding, or
  /// whose indices keep their meaning, go as they are stored.
  Result<MovedChunk> Join(std::size_t index, const ColumnInput& input, SourceFacts& facts,
                          std::optional<parquet::Encoding> copied_encoding);
  /// Leaves deleted rows out and fills nulls. `may_copy`: pages without any of both go as they are stored.
  Result<MovedChunk> Filter(std::size_t index, const ColumnInput& input, SourceFacts& facts, bool may_copy);

  /// Input and offset, for messages.
  static std::string Place(const ColumnInput& input, const PageRecord& page);

 private:
  struct Walk;
  PageFacts FactsOf(const ColumnInput& input, SourceFacts& facts, std::size_t page) const;
  Status CopyOne(Walk& walk, std::size_t page, PageFacts facts);
  Status CheckLevels(const Walk& walk, std::size_t page, ByteView body, std::optional<std::int64_t> rows);
  Status FilterOne(Walk& walk, std::size_t page, MovedChunk& out);
  bool PaysToCopy(const Walk& walk, std::size_t page, parquet::Encoding encoding) const;
  Status CopyKept(Walk& walk, std::size_t page, MovedChunk& out);
  Status JoinOne(Walk& walk, std::size_t page, bool starts_row, RowCursor* rows);
  Status OpenPage(Walk& walk, std::size_t page, ByteView body, JoinPage& joined);
  Status CheckRows(const ColumnInput& input, std::int64_t rows, std::int64_t wanted) const;
  Status LoadEntries(const ColumnInput& input);
  Status OpenFeed(const Walk& walk, std::size_t page, JoinPage& joined);

  const OutputColumn& column_;
  const MergeSettings& settings_;
  const DictionaryChoice& choice_;
  PageOpener& opener_;
  MergeBuffers& buffers_;
  ChunkWriter& writer_;
  PageJoin& join_;
  NestingCheck* nesting_;
  RawBuffer levels_;  // to be put before a copied body
};

}  // namespace firn::splice
