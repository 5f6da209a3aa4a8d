// SPDX-License-Identifier: Apache-2.0
//
// Writes the pages of one output column chunk and collects what its metadata and page index say.
//
// In: finished or copied pages in order, each with its counts and bounds. Out: bytes to a sink, and a MergedChunk whose
//   offsets count from the chunk's start.
// Guarantees: sizes, counts, encodings and encoding statistics are those of the pages written; a column index only if
//   every page's null count and bounds are known; an offset index only if every page's first row is known. Pages that
//   are built here carry a CRC: it costs next to nothing beside the compressor, and lets Verify and readers find
//   damage.
// Cost: one compression a built page; with `presses`, other threads may do it, and a few pages wait in memory.
// Threads: one owner.
// Source: parquet.thrift ColumnMetaData, OffsetIndex, ColumnIndex; PageIndex.md.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "format/parquet/compression.h"
#include "format/parquet/metadata.h"
#include "splice/bounds.h"
#include "splice/chunk_scan.h"
#include "splice/output_column.h"
#include "splice/page_presses.h"

namespace firn::splice {

/// What is known of a data page beside its bytes.
struct PageFacts {
  std::int64_t values = 0;            // levels: nulls included
  std::optional<std::int64_t> nulls;  // values below the highest definition level
  std::optional<std::int64_t> rows;
  Bounds bounds;  // of the values that are not null
};

/// A finished column chunk.
struct MergedChunk {
  parquet::ColumnMetaData meta;                  // offsets from the chunk's start
  std::vector<parquet::PageLocation> locations;  // likewise; empty: no offset index
  std::optional<parquet::ColumnIndex> column_index;
  std::int64_t pages = 0;
};

/// Takes the chunk's bytes in order.
struct ChunkSink {
  std::function<Status(ByteView)> write;
  /// Takes pages of `copies_from` by their place in its file instead of their bytes.
  std::function<Status(const parquet::ByteRange&)> copy = {};
  const SourceGroup* copies_from = nullptr;  // null: bytes alone are taken
};

struct ChunkSettings {
  parquet::Codec codec = parquet::Codec::kZstd;
  int codec_level = parquet::kDefaultLevel;
  /// With zstd: pages without a dictionary get a faster level if a sample then has at most this share of its bytes at
  /// `codec_level`, as wide integers often have, or a denser one if that makes numbers much smaller; 0: never.
  double faster_level_share = 0;
};

/// The level that a sample of the column's pages chose; kept from chunk to chunk.
struct LevelChoice {
  int level = parquet::kDefaultLevel;
  int pages_left = 0;  // until the next sample
};

class ChunkWriter {
 public:
  /// `presses`: null for none.
  ChunkWriter(const OutputColumn& column, const ChunkSettings& settings, LevelChoice& level,
              parquet::PageCodecs& codecs, PagePresses* presses, ChunkSink sink);

  /// First, if at all.
  Status WriteDictionary(ByteView plain, std::size_t entries);
  Status CopyDictionary(const SourceGroup& source, const PageRecord& page, ByteView header_and_body);
  /// A V1 page: `body` holds levels and values. A V2 page: `levels` are stored as they are, `body` holds the values.
  Status WritePage(parquet::PageHeader header, ByteView levels, ByteView body, PageFacts facts);
  /// Whether pages of that source are copied by their place, so that CopyPage needs no bytes of them.
  bool TakesPagesOf(const SourceGroup& source) const { return sink_.copies_from == &source; }
  /// Without bytes: of the source that the sink copies from.
  Status CopyPage(const PageRecord& page, ByteView header_and_body, PageFacts facts);
  /// The body as it is stored behind a new header and, maybe, `levels`, which its sizes do not count yet.
  Status CopyBody(parquet::PageHeader header, ByteView levels, ByteView stored, PageFacts facts);
  /// Rows of the chunk, to check the pages against.
  Result<MergedChunk> Finish(std::int64_t rows);

 private:
  /// A page whose body others compress.
  struct Pending {
    parquet::PageHeader header;
    RawBuffer levels;
    PageFacts facts;
    std::shared_ptr<PressedPage> page;
  };

  bool MayPress(ByteView levels, ByteView body) const;
  void PutOff(parquet::PageHeader header, ByteView levels, ByteView body, PageFacts facts, int level);
  Status WriteFirstPending();
  Status WritePending();
  Status WriteBuilt(parquet::PageHeader header, ByteView levels, ByteView body, ByteView stored, PageFacts facts);
  Result<int> LevelFor(parquet::Encoding encoding, ByteView body);
  Status Put(parquet::PageHeader& header, ByteView levels, ByteView stored);
  Status PutCopy(const PageRecord& page, ByteView header_and_body);
  void CountEncoding(parquet::PageType type, parquet::Encoding encoding);
  void AddFacts(std::int64_t offset, std::size_t size, PageFacts facts);

  const OutputColumn& column_;
  ChunkSettings settings_;
  LevelChoice& level_;
  parquet::PageCodecs& codecs_;
  PagePresses* presses_;
  ChunkSink sink_;
  std::deque<Pending> pending_;
  MergedChunk chunk_;
  std::vector<PageFacts> facts_;
  std::int64_t position_ = 0, next_row_ = 0;
  bool rows_known_ = true;
  Bytes header_bytes_;
  RawBuffer stored_;  // a page that waits for those before it
};

}  // namespace firn::splice
