// SPDX-License-Identifier: Apache-2.0
//
// Merges the chunks of one column into one output chunk, each input by its cheapest legal tier.
//
// In: per input row group a scanned chunk, or what its rows hold instead. Out: pages to a sink; a MergedChunk with
//   statistics; bytes per tier.
// Guarantees: rows in the order of the inputs; values, nulls and nesting as they were; statistics only where every
//   input with values had trustworthy ones, or the values themselves were looked at.
// Cost: copied pages: nothing but their bytes. Others: decompression, about 1 ns a value, compression.
// Errors: kCorrupt, kUnsupported, kLimit with input and offset; those of the sink.
// Threads: one call a thread; ColumnMemory belongs to the column, MergeBuffers to the thread.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "splice/bloom_build.h"
#include "splice/chunk_writer.h"
#include "splice/delta_feed.h"
#include "splice/dictionary_union.h"
#include "splice/lineage.h"
#include "splice/listed_feed.h"
#include "splice/nesting_check.h"
#include "splice/page_join.h"
#include "splice/schema_match.h"
#include "splice/source_facts.h"
#include "splice/splice.h"

namespace firn::splice {

/// Rows of one input for this column.
struct ColumnInput {
  enum class Kind : std::uint8_t { kChunk, kNull, kValue, kRowIds };
  Kind kind = Kind::kChunk;
  std::int64_t rows = 0;                  // that go into the output
  ChunkScan scan;                         // kChunk
  const LevelMap* levels = nullptr;       // kChunk
  bool decoded = false;                   // kChunk: made by the fallback
  bool had_filter = false;                // decoded: of a chunk with a Bloom filter
  bool new_headers = false;               // kChunk: its pages may be copied, with other headers
  ByteView value;                         // kValue: PLAIN, a BYTE_ARRAY without its length
  const RowFilter* filter = nullptr;      // kChunk, kRowIds: which rows go; null: none
  bool lineage = false, row_ids = false;  // what the column is about
  std::optional<LineageFill> fill;        // kRowIds; kChunk: what nulls become

  /// A value that rows get without having it: it belongs into a dictionary.
  std::optional<ByteView> AddedValue() const {
    if (kind == Kind::kValue) return value;
    return kind == Kind::kChunk && fill && !fill->counts ? std::optional(fill->plain()) : std::nullopt;
  }
};

/// What is asked for one column.
struct ColumnSettings {
  BloomSettings bloom;
  bool dictionary = true, statistics = true;
};

struct MergeSettings {
  ChunkSettings chunk;
  Effort effort = Effort::kBalanced;
  std::size_t page_size_bytes = 1 << 20;
  std::int64_t page_rows_max = std::numeric_limits<std::int64_t>::max();
  std::size_t dictionary_size_bytes = 2 << 20;
  std::size_t mapping_bytes_max = 64 << 20;  // from indices of the inputs to those of the union, all together
  std::int64_t page_bytes_max = 256 << 20;   // of one input page, uncompressed
  std::vector<ColumnSettings> columns;       // by column

  const ColumnSettings& Of(const OutputColumn& column) const { return columns[static_cast<std::size_t>(column.index)]; }
};

/// What a column remembers from one row group to the next.
struct ColumnMemory {
  bool dictionary_refused = false;  // its dictionary did not pay
  LevelChoice level;
};

/// What a thread keeps from one column to the next.
struct MergeBuffers {
  parquet::PageCodecs codecs;
  PagePresses* presses = nullptr;  // of all threads
  JoinBuffers join;
  RawBuffer dictionary;  // PLAIN entries of the input that is being read
  EntryTable entries;
  IndexFeed indices;
  PlainFeed plain;
  DeltaIntegerFeed delta_integers;
  DeltaLengthFeed delta_lengths;
  DeltaStringFeed delta_strings;
  StreamSplitFeed streams;
  ListedFeed listed;
};

struct ColumnResult {
  MergedChunk chunk;
  std::array<TierCount, kTierCount> tiers{};
  bool verbatim = true;                // every page is a copy
  bool has_unchecked_indices = false;  // dictionary-encoded pages were copied: nobody has looked at their indices
  std::vector<InputPrints> prints;     // by input, of a column below a list
  BuiltBloom bloom;
  std::vector<std::string> notes;
};

/// Why a chunk cannot be read here and must go through the fallback; empty: it can.
std::string WhyDecodeChunk(const OutputColumn& column, const ChunkScan& scan, std::uint32_t input_max_definition);

Result<ColumnResult> MergeColumn(const OutputColumn& column, std::vector<ColumnInput>& inputs,
                                 const MergeSettings& settings, ColumnMemory& memory, MergeBuffers& buffers,
                                 const ChunkSink& sink);

}  // namespace firn::splice
