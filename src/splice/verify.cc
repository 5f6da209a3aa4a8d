// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "format/parquet/bloom_filter.h"
#include "format/parquet/compression.h"
#include "format/parquet/footer.h"
#include "splice/chunk_scan.h"
#include "splice/dictionary_union.h"
#include "splice/hybrid.h"
#include "splice/input_file.h"
#include "splice/page_open.h"
#include "splice/schema_match.h"
#include "splice/splice.h"

namespace firn::splice {

namespace {

using parquet::PageType;

constexpr std::int64_t kHoldBytesMax = 64 << 20, kPageBytesMin = 16 << 20;
/// A thread with less would read chunks page by page.
constexpr std::int64_t kThreadBytes = 96 << 20;

/// Old writers name BIT_PACKED where there are no levels.
bool LevelsFit(parquet::Encoding encoding, std::uint32_t max_level) {
  return encoding == parquet::Encoding::kRle || (max_level == 0 && encoding == parquet::Encoding::kBitPacked);
}

/// Checks one column chunk against its pages.
class ChunkVerifier {
 public:
  ChunkVerifier(const SourceGroup& group, const OutputColumn& column, parquet::PageCodecs& codecs,
                std::int64_t page_bytes_max)
      : group_(group),
        column_(column),
        codecs_(codecs),
        page_bytes_max_(page_bytes_max),
        leaf_(static_cast<std::size_t>(column.index)),
        chunk_(group.meta().columns[leaf_]),
        meta_(*chunk_.meta) {}

  /// Pages of the chunk.
  Result<std::int64_t> Run(bool check_indices, bool filtered_dictionary) {
    FIRN_ASSIGN(scan_, ScanChunk(group_, leaf_));
    FIRN_TRY(ReadFilter());
    if (filtered_dictionary && !(filter_ && scan_.dictionary)) return Fault(0, "a Bloom filter is missing");
    if (!filtered_dictionary) filter_.reset();
    FIRN_TRY(CheckLayout());
    FIRN_TRY(CheckEncodings());
    FIRN_TRY(CheckBodies(check_indices));
    FIRN_TRY(CheckIndexes());
    return static_cast<std::int64_t>(scan_.pages.size()) + (scan_.dictionary ? 1 : 0);
  }

 private:
  Error Fault(std::uint64_t offset, const std::string& what) const {
    return group_.file().Corrupt(offset, "column " + std::to_string(leaf_) + ": " + what);
  }

  /// It stands behind the row group and is as long as the footer says.
  Status ReadFilter() {
    if (!meta_.bloom_filter_offset) return Ok();
    const auto at = static_cast<std::uint64_t>(*meta_.bloom_filter_offset);
    const parquet::ByteRange range = group_.ChunkRange(leaf_);
    const std::int64_t length = meta_.bloom_filter_length.value_or(0);
    if (*meta_.bloom_filter_offset < 0 || at < range.offset + range.size || at > group_.file().data_end() ||
        length <= 0 || static_cast<std::uint64_t>(length) > group_.file().data_end() - at) {
      return Fault(at, "a Bloom filter at an impossible place");
    }
    RawBuffer scratch;
    FIRN_ASSIGN(const ByteView bytes, group_.file().View(at, static_cast<std::uint64_t>(length), scratch));
    Result<parquet::BloomFilter> filter = parquet::BloomFilter::Parse(bytes);
    if (!filter) return Fault(at, filter.error().message);
    filter_ = std::move(*filter);
    return Ok();
  }

  /// Pages follow each other without gaps and fill the chunk.
  Status CheckLayout() const {
    const parquet::ByteRange range = group_.ChunkRange(leaf_);
    std::uint64_t at = range.offset;
    std::int64_t uncompressed = 0;
    const auto add = [&](const PageRecord& page) {
      const bool follows = page.offset == at;
      at = page.offset + page.header_bytes + static_cast<std::uint64_t>(page.compressed_size);
      uncompressed += std::int64_t{page.header_bytes} + page.uncompressed_size;
      return follows;
    };
    if (scan_.dictionary.has_value() != meta_.dictionary_page_offset.has_value()) {
      return Fault(at, "dictionary_page_offset and the pages do not agree");
    }
    if (scan_.dictionary && !add(*scan_.dictionary)) return Fault(at, "the dictionary page is not the first");
    if (!scan_.pages.empty() && static_cast<std::uint64_t>(meta_.data_page_offset) != scan_.pages[0].offset) {
      return Fault(at, "data_page_offset is not that of the first page");
    }
    for (const PageRecord& page : scan_.pages) {
      if (!add(page)) return Fault(at, "a gap between pages");
    }
    if (at != range.offset + range.size) return Fault(at, "pages do not fill the chunk");
    if (uncompressed != meta_.total_uncompressed_size) return Fault(range.offset, "total_uncompressed_size is wrong");
    if (column_.max_repetition == 0 && meta_.num_values != group_.meta().num_rows) {
      return Fault(range.offset, "num_values is not the number of rows");
    }
    return Ok();
  }

  Status CheckEncodings() const {
    std::map<std::pair<PageType, parquet::Encoding>, std::int64_t> counts;
    if (scan_.dictionary) ++counts[{PageType::kDictionary, scan_.dictionary->encoding}];
    bool values = false;
    for (const PageRecord& page : scan_.pages) {
      values = values || !IsDictionaryEncoded(page);
      if (values && IsDictionaryEncoded(page)) return Fault(page.offset, "indices behind a page of values");
      ++counts[{page.type, page.encoding}];
      if (std::ranges::find(meta_.encodings, page.encoding) == meta_.encodings.end()) {
        return Fault(page.offset, "an encoding that the footer does not list");
      }
    }
    for (const parquet::PageEncodingStats& stats : meta_.encoding_stats) {
      counts[{stats.page_type, stats.encoding}] -= stats.count;
    }
    const bool right = std::ranges::all_of(counts, [](const auto& count) { return count.second == 0; });
    return right ? Ok() : Status(Fault(group_.ChunkRange(leaf_).offset, "encoding_stats are not those of the pages"));
  }

  /// CRCs are those of the bytes; indices of copied pages lie in the dictionary.
  Status CheckBodies(bool check_indices) {
    PageFetcher fetcher(group_);
    PageOpener opener(codecs_, page_bytes_max_);
    if (scan_.dictionary) FIRN_TRY(CheckDictionary(fetcher, opener));
    for (const PageRecord& page : scan_.pages) {
      FIRN_ASSIGN(const ByteView body, fetcher.FetchBody(page));
      if (page.type == PageType::kData && !(LevelsFit(page.definition_encoding, column_.max_definition) &&
                                            LevelsFit(page.repetition_encoding, column_.max_repetition))) {
        return Fault(page.offset, "levels in another encoding than RLE");
      }
      if (!check_indices || !IsDictionaryEncoded(page)) continue;
      FIRN_TRY(CheckIndices(page, body, opener).In(group_.file().name() + ": offset " + std::to_string(page.offset)));
    }
    return Ok();
  }

  /// The page holds as many entries as it says.
  Status CheckDictionary(PageFetcher& fetcher, PageOpener& opener) const {
    const PageRecord& page = *scan_.dictionary;
    FIRN_ASSIGN(const ByteView body, fetcher.FetchBody(page));
    FIRN_ASSIGN(const ByteView plain, opener.OpenDictionary(page, body, meta_.codec)
                                          .In(group_.file().name() + ": offset " + std::to_string(page.offset)));
    const auto entries = static_cast<std::size_t>(page.num_values);
    std::size_t size = entries * column_.width;
    std::vector<std::uint32_t> offsets;
    if (column_.width == 0) {
      FIRN_TRY(FindByteArrays(plain, entries, offsets));
      size = offsets.back();
    }
    if (size != plain.size()) return Fault(page.offset, "a dictionary with another number of entries");
    for (std::size_t i = 0; filter_ && i < entries; ++i) {
      const std::size_t begin = column_.width == 0 ? offsets[i] + sizeof(std::uint32_t) : i * column_.width;
      const std::size_t end = column_.width == 0 ? offsets[i + 1] : begin + column_.width;
      if (!filter_->MayContain(parquet::BloomHash(plain.subspan(begin, end - begin)))) {
        return Fault(page.offset, "a Bloom filter that denies an entry of the dictionary");
      }
    }
    return Ok();
  }

  Status CheckIndices(const PageRecord& page, ByteView body, PageOpener& opener) const {
    FIRN_ASSIGN(const PageSections sections,
                opener.Open(page, body, meta_.codec, column_.max_repetition > 0, column_.max_definition > 0));
    std::uint32_t slice[1024];
    std::size_t values = static_cast<std::size_t>(page.num_values);
    if (column_.max_definition > 0) {
      unsigned width = 0;
      while (column_.max_definition >> width != 0) ++width;
      HybridReader levels(sections.definition, width);
      values = 0;
      for (auto left = static_cast<std::size_t>(page.num_values); left > 0;) {
        const std::size_t count = std::min(left, std::size(slice));
        if (levels.Read(slice, count) != count) return Error{Code::kCorrupt, "definition levels end early"};
        values += static_cast<std::size_t>(std::count(slice, slice + count, column_.max_definition));
        left -= count;
      }
    }
    if (values == 0) return Ok();
    if (sections.values.empty() || sections.values[0] > 32) return Error{Code::kCorrupt, "no index bit width"};
    HybridReader indices(sections.values.subspan(1), sections.values[0]);
    const auto entries = static_cast<std::uint32_t>(scan_.dictionary->num_values);
    while (values > 0) {
      const std::size_t count = std::min(values, std::size(slice));
      if (indices.Read(slice, count) != count) return Error{Code::kCorrupt, "dictionary indices end early"};
      if (std::any_of(slice, slice + count, [&](std::uint32_t index) { return index >= entries; })) {
        return Error{Code::kCorrupt, "dictionary index beyond the dictionary"};
      }
      values -= count;
    }
    return Ok();
  }

  Status CheckIndexes() {
    const auto read = [&](std::optional<std::int64_t> offset, std::optional<std::int32_t> length,
                          RawBuffer& scratch) -> Result<ByteView> {
      if (!length || *length < 0 || *offset < 0) return Fault(0, "a page index without a length");
      return group_.file().View(static_cast<std::uint64_t>(*offset), static_cast<std::uint64_t>(*length), scratch);
    };
    if (!chunk_.offset_index_offset) {
      return chunk_.column_index_offset ? Status(Fault(0, "a column index without an offset index")) : Ok();
    }
    RawBuffer scratch;
    FIRN_ASSIGN(const ByteView offset_bytes, read(chunk_.offset_index_offset, chunk_.offset_index_length, scratch));
    FIRN_ASSIGN(const parquet::OffsetIndex offsets, parquet::ParseOffsetIndex(offset_bytes));
    FIRN_TRY(CheckOffsets(offsets));
    if (!chunk_.column_index_offset) return Ok();
    FIRN_ASSIGN(const ByteView bytes, read(chunk_.column_index_offset, chunk_.column_index_length, scratch));
    FIRN_ASSIGN(const parquet::ColumnIndex index, parquet::ParseColumnIndex(bytes, scan_.pages.size()));
    return CheckBounds(index);
  }

  Status CheckOffsets(const parquet::OffsetIndex& offsets) const {
    if (offsets.pages.size() != scan_.pages.size()) return Fault(0, "the offset index has another number of pages");
    for (std::size_t i = 0; i < scan_.pages.size(); ++i) {
      const PageRecord& page = scan_.pages[i];
      const parquet::PageLocation& location = offsets.pages[i];
      const std::int64_t end =
          i + 1 < scan_.pages.size() ? offsets.pages[i + 1].first_row_index : group_.meta().num_rows;
      const std::int64_t rows = end - location.first_row_index;
      if (static_cast<std::uint64_t>(location.offset) != page.offset ||
          location.compressed_size != static_cast<std::int64_t>(page.header_bytes) + page.compressed_size ||
          (i == 0 && location.first_row_index != 0) || rows <= 0) {
        return Fault(page.offset, "the offset index is not that of the pages");
      }
      const bool flat_differs = column_.max_repetition == 0 && rows != page.num_values;
      if (flat_differs || (page.type == PageType::kDataV2 && rows != page.num_rows)) {
        return Fault(page.offset, "the offset index has another number of rows than the page");
      }
    }
    return Ok();
  }

  Status CheckBounds(const parquet::ColumnIndex& index) const {
    const std::int32_t length =
        column_.type == parquet::PhysicalType::kFixedLenByteArray ? column_.element.type_length : 0;
    std::optional<std::size_t> last;
    for (std::size_t i = 0; i < index.null_pages.size(); ++i) {
      if (index.null_pages[i]) continue;
      const Bytes& min = index.min_values[i];
      const Bytes& max = index.max_values[i];
      if (!IsOrdered(column_.order, min, length) || !IsOrdered(column_.order, max, length) ||
          CompareValues(column_.order, min, max) > 0) {
        return Fault(scan_.pages[i].offset, "impossible bounds in the column index");
      }
      if (last && index.boundary_order != parquet::BoundaryOrder::kUnordered) {
        const int sign = index.boundary_order == parquet::BoundaryOrder::kAscending ? 1 : -1;
        if (sign * CompareValues(column_.order, index.min_values[*last], min) > 0 ||
            sign * CompareValues(column_.order, index.max_values[*last], max) > 0) {
          return Fault(scan_.pages[i].offset, "pages are not in the boundary order");
        }
      }
      last = i;
    }
    return Ok();
  }

  const SourceGroup& group_;
  const OutputColumn& column_;
  parquet::PageCodecs& codecs_;
  std::int64_t page_bytes_max_;
  std::size_t leaf_;
  const parquet::ColumnChunk& chunk_;
  const parquet::ColumnMetaData& meta_;
  ChunkScan scan_;
  std::optional<parquet::BloomFilter> filter_;  // that has the entries of the dictionary
};

/// Rows, sizes and places that the report and the footer both have.
Status CheckReport(const InputFile& file, const Report& report) {
  const auto differs = [&](const char* what) { return file.Corrupt(file.data_end(), what); };
  const parquet::FileMetaData& footer = file.footer();
  if (static_cast<std::int64_t>(file.size_bytes()) != report.output_bytes)
    return differs("another size than was written");
  if (footer.num_rows != report.rows) return differs("another number of rows than was written");
  if (report.deleted_rows < 0 || !std::ranges::is_sorted(report.input_row_bases) ||
      (!report.input_row_bases.empty() &&
       (report.input_row_bases.front() != 0 || report.input_row_bases.back() > report.rows))) {
    return differs("impossible row positions of the inputs");
  }
  if (static_cast<std::int64_t>(footer.row_groups.size()) != report.row_groups ||
      report.split_offsets.size() != footer.row_groups.size()) {
    return differs("another number of row groups than was written");
  }
  for (std::size_t i = 0; i < footer.row_groups.size(); ++i) {
    const parquet::RowGroup& group = footer.row_groups[i];
    std::int64_t compressed = 0, uncompressed = 0;
    for (const parquet::ColumnChunk& chunk : group.columns) {
      compressed += chunk.meta->total_compressed_size;
      uncompressed += chunk.meta->total_uncompressed_size;
    }
    if (group.total_byte_size != uncompressed || group.total_compressed_size != compressed) {
      return differs("a row group's sizes are not those of its columns");
    }
    if (group.file_offset != report.split_offsets[i]) return differs("a row group starts at another place");
  }
  return Ok();
}

struct Counts {
  std::int64_t pages = 0, filters = 0;
};

/// Checks a row group with what one thread may hold.
Result<Counts> VerifyGroup(const std::shared_ptr<InputFile>& file, std::size_t g, const Report& report,
                           const std::vector<OutputColumn>& columns, std::int64_t memory_bytes) {
  const std::int64_t hold_bytes = std::min(kHoldBytesMax, memory_bytes / 3);
  const std::int64_t page_bytes = std::max(memory_bytes / 3, kPageBytesMin);
  Counts counts;
  parquet::PageCodecs codecs;
  SourceGroup group(file, g);
  const std::int64_t bytes = group.meta().total_compressed_size.value_or(0);
  if (bytes <= hold_bytes) {
    std::vector<std::int32_t> all;
    for (const OutputColumn& column : columns) all.push_back(column.index);
    FIRN_TRY(group.Hold(all));
  }
  for (const OutputColumn& column : columns) {
    const auto leaf = static_cast<std::size_t>(column.index);
    if (bytes > hold_bytes && group.chunk(leaf).total_compressed_size <= hold_bytes) {
      FIRN_TRY(group.Hold({column.index}));
    }
    const auto is_in = [&](const std::vector<std::pair<std::int64_t, std::size_t>>& chunks) {
      return std::ranges::find(chunks, std::pair(static_cast<std::int64_t>(g), leaf)) != chunks.end();
    };
    counts.filters += group.chunk(leaf).bloom_filter_offset ? 1 : 0;
    FIRN_ASSIGN(const std::int64_t found, ChunkVerifier(group, column, codecs, page_bytes)
                                              .Run(is_in(report.unchecked), is_in(report.filtered_dictionaries)));
    counts.pages += found;
  }
  return counts;
}

}  // namespace

Result<parquet::FileMetaData> Verify(RandomAccessSource& output, const Report& report, std::int64_t memory_bytes,
                                     int threads) {
  FIRN_ASSIGN(const std::shared_ptr<InputFile> file, InputFile::Open(output, nullptr, parquet::kFooterBytesMax));
  FIRN_TRY(CheckReport(*file, report));
  FIRN_ASSIGN(const std::vector<OutputColumn> columns, ColumnsOf(file->footer().schema));
  const std::size_t groups = file->footer().row_groups.size();
  const std::int64_t by_memory = std::max<std::int64_t>(memory_bytes / kThreadBytes, 1);
  const auto workers = std::clamp<std::int64_t>(std::min<std::int64_t>(threads, by_memory), 1,
                                                std::max<std::int64_t>(static_cast<std::int64_t>(groups), 1));
  std::atomic<std::int64_t> pages = 0, filters = 0;
  FIRN_TRY(ForEachIndex(groups, static_cast<int>(workers), [&](std::size_t g) -> Status {
    FIRN_ASSIGN(const Counts found, VerifyGroup(file, g, report, columns, memory_bytes / workers));
    pages += found.pages;
    filters += found.filters;
    return Ok();
  }));
  if (filters != report.bloom_filters) return file->Corrupt(0, "another number of Bloom filters than was written");
  if (pages != report.pages) return file->Corrupt(0, "another number of pages than was written");
  return file->footer();
}

}  // namespace firn::splice
