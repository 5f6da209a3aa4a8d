// SPDX-License-Identifier: Apache-2.0
//
// Walks the page headers of a column chunk, and hands out page bodies.
//
// In: a row group of an input and a leaf. Out: a record a page; views of headers and bodies.
// Guarantees: every page lies inside the chunk; the values of the data pages sum up to the chunk's; at most one
// dictionary
//   page, before the data pages; pages without values are left out. Offsets in the footer are only where to start:
//   what a page is, its header tells. CRCs are checked when a body is fetched, where a page has one.
// Cost: one header parse a page; bodies are not touched. Chunks that are not held are read through a window.
// Threads: one owner.
// Errors: kCorrupt naming the input and the offset.
// Source: parquet.thrift PageHeader; PARQUET-816 and others: dictionary_page_offset may be wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "format/parquet/metadata.h"
#include "splice/input_file.h"
#include "splice/raw_buffer.h"

namespace firn::splice {

/// A page header without what the merge does not need.
struct PageRecord {
  std::uint64_t offset = 0;  // of the header, in the file
  std::uint32_t header_bytes = 0;
  std::int32_t compressed_size = 0, uncompressed_size = 0;
  std::int32_t num_values = 0;
  std::int32_t num_nulls = 0, num_rows = 0;                 // V2
  std::int32_t definition_bytes = 0, repetition_bytes = 0;  // V2
  std::optional<std::uint32_t> crc;
  parquet::PageType type = parquet::PageType::kData;
  parquet::Encoding encoding = parquet::Encoding::kPlain;
  parquet::Encoding definition_encoding = parquet::Encoding::kRle, repetition_encoding = parquet::Encoding::kRle;
  bool is_compressed = true;     // V2, with the writer's quirk undone
  std::int32_t statistics = -1;  // index into ChunkScan::statistics
};

inline bool IsDictionaryEncoded(const PageRecord& page) {
  return page.encoding == parquet::Encoding::kPlainDictionary || page.encoding == parquet::Encoding::kRleDictionary;
}

struct ChunkScan {
  const SourceGroup* source = nullptr;
  std::size_t leaf = 0;
  const parquet::ColumnMetaData* meta = nullptr;
  std::optional<PageRecord> dictionary;
  std::vector<PageRecord> pages;
  std::vector<parquet::Statistics> statistics;  // of the pages, where a header has some
  std::int64_t data_bytes = 0;                  // of the data pages' bodies, uncompressed
  std::int64_t largest_page = 0;                // uncompressed
  bool headers_lie = false;  // is_compressed or statistics are wrong: pages must not be copied as they are

  bool has_dictionary_pages = false, has_other_pages = false;  // encodings of the data pages
  bool has_v1 = false, has_v2 = false;
  bool splits_rows = false;  // a V2 page goes on with the row of the page before: where rows begin is not known

  /// What the records take, without bounds that are longer than usual.
  std::int64_t memory_bytes() const {
    return static_cast<std::int64_t>(pages.capacity() * sizeof(PageRecord) +
                                     statistics.size() * (sizeof(parquet::Statistics) + 4 * kBoundBytes));
  }

 private:
  static constexpr std::size_t kBoundBytes = 32;
};

/// kLimit: there are more than `pages_max`.
Result<ChunkScan> ScanChunk(const SourceGroup& source, std::size_t leaf, std::size_t pages_max = SIZE_MAX);

/// Fetches pages of a chunk in order.
class PageFetcher {
 public:
  explicit PageFetcher(const SourceGroup& source) : source_(&source) {}
  /// For a single page: nothing behind it is read.
  static PageFetcher ForOne(const SourceGroup& source) {
    PageFetcher fetcher(source);
    fetcher.window_bytes_ = 0;
    return fetcher;
  }
  /// Header and body as stored, valid until the next call. The CRC is checked.
  Result<ByteView> Fetch(const PageRecord& page);
  Result<ByteView> FetchBody(const PageRecord& page);

 private:
  static constexpr std::uint64_t kWindowBytes = 4 << 20;

  const SourceGroup* source_;
  std::uint64_t window_bytes_ = kWindowBytes;
  RawBuffer window_;
  std::uint64_t window_offset_ = 0;
};

std::uint32_t Crc32(ByteView bytes);
/// Of what `crc` is of, and `bytes` behind it.
std::uint32_t ContinueCrc32(std::uint32_t crc, ByteView bytes);

}  // namespace firn::splice
