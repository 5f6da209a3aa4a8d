// SPDX-License-Identifier: Apache-2.0
#include "splice/chunk_scan.h"

#include <fmt/format.h>
#include <libdeflate.h>

#include <algorithm>

#include "format/parquet/footer.h"
#include "splice/bit_pack.h"
#include "splice/bounds.h"

namespace firn::splice {

namespace {

using parquet::Codec;
using parquet::PageType;

constexpr std::int64_t kMagicBytes = 4;
/// Page headers with statistics may be long; one that is longer than this is not believed.
constexpr std::uint64_t kHeaderBytesMax = 1 << 20, kHeaderBytesFirst = 4 << 10;

PageRecord RecordOf(const parquet::PageHeader& header, std::uint64_t offset, std::size_t header_bytes) {
  PageRecord page;
  page.offset = offset;
  page.header_bytes = static_cast<std::uint32_t>(header_bytes);
  page.compressed_size = header.compressed_size;
  page.uncompressed_size = header.uncompressed_size;
  page.num_values = header.num_values;
  page.num_nulls = header.num_nulls;
  page.num_rows = header.num_rows;
  page.definition_bytes = header.definition_levels_bytes;
  page.repetition_bytes = header.repetition_levels_bytes;
  if (header.crc) page.crc = static_cast<std::uint32_t>(*header.crc);
  page.type = header.type;
  page.encoding = header.encoding;
  page.definition_encoding = header.definition_level_encoding;
  page.repetition_encoding = header.repetition_level_encoding;
  page.is_compressed = header.is_compressed;
  return page;
}

/// Walks from header to header.
class ChunkWalk {
 public:
  ChunkWalk(const SourceGroup& source, std::size_t leaf, std::size_t pages_max)
      : source_(source), pages_max_(pages_max) {
    scan_.source = &source;
    scan_.leaf = leaf;
    scan_.meta = &source.chunk(leaf);
    const parquet::ByteRange range = source.ChunkRange(leaf);
    at_ = range.offset;
    end_ = range.offset + range.size;
  }

  Result<ChunkScan> Run() {
    const parquet::ColumnMetaData& meta = *scan_.meta;
    if (meta.codec < Codec::kUncompressed || meta.codec > Codec::kLz4Raw || meta.codec == Codec::kLzo) {
      return Error{Code::kUnsupported, source_.file().name() + ": offset " + std::to_string(at_) + ": codec number " +
                                           std::to_string(static_cast<int>(meta.codec))};
    }
    // Readers go there if it lies before the dictionary page.
    if (meta.num_values > 0 && meta.data_page_offset < kMagicBytes) {
      return source_.file().Corrupt(at_, "data_page_offset " + std::to_string(meta.data_page_offset));
    }
    // The range of old writers' chunks is longer than the chunk; others may end with pages without values.
    const bool ends_early = source_.file().quirks().chunk_size_omits_dictionary_header;
    while (at_ < end_ && (values_ < meta.num_values || !ends_early)) {
      if (scan_.pages.size() == pages_max_) {
        return Error{Code::kLimit,
                     fmt::format("{}: offset {}: more than {} pages", source_.file().name(), at_, pages_max_)};
      }
      FIRN_TRY(Next());
    }
    if (values_ != scan_.meta->num_values) {
      return source_.file().Corrupt(at_, "pages of " + std::to_string(values_) + " values, the chunk has " +
                                             std::to_string(scan_.meta->num_values));
    }
    return std::move(scan_);
  }

 private:
  /// The header at at_: a window, and a longer one if it does not end inside.
  Result<parquet::ParsedPageHeader> ParseHeader() {
    const std::uint64_t left = end_ - at_;
    const bool held = source_.holds(at_, left);
    for (std::uint64_t size = held ? left : std::min(left, kHeaderBytesFirst);; size = std::min(left, size * 16)) {
      FIRN_ASSIGN(const ByteView bytes, source_.View(at_, std::min(size, std::max(kHeaderBytesMax, size)), scratch_));
      Result<parquet::ParsedPageHeader> parsed = parquet::ParsePageHeader(bytes);
      if (parsed) {
        behind_header_ = bytes.subspan(parsed->header_bytes);
        return parsed;
      }
      if (size == left || size >= kHeaderBytesMax) {
        return source_.file().Corrupt(at_, "page header: " + parsed.error().message);
      }
    }
  }

  Status Next() {
    FIRN_ASSIGN(parquet::ParsedPageHeader parsed, ParseHeader());
    PageRecord page = RecordOf(parsed.header, at_, parsed.header_bytes);
    if (page.compressed_size < 0 || page.uncompressed_size < 0 || page.num_values < 0) {
      return source_.file().Corrupt(at_, "negative size in a page header");
    }
    const std::uint64_t size = page.header_bytes + static_cast<std::uint64_t>(page.compressed_size);
    if (size > end_ - at_) return source_.file().Corrupt(at_, "a page reaches beyond its column chunk");
    if (page.type == PageType::kDictionary) {
      if (scan_.dictionary || !scan_.pages.empty()) return source_.file().Corrupt(at_, "a second dictionary page");
      scan_.dictionary = page;
    } else if (page.type == PageType::kData || page.type == PageType::kDataV2) {
      FIRN_TRY(AddData(page, parsed.header));
    }
    at_ += size;
    return Ok();
  }

  Status AddData(PageRecord page, parquet::PageHeader& header) {
    if (page.num_values == 0) return Ok();
    if (page.type == PageType::kDataV2) {
      scan_.has_v2 = true;
      if (!page.is_compressed && source_.file().quirks().v2_is_compressed_flag_wrong) {
        page.is_compressed = true;
        scan_.headers_lie = true;
      }
      const std::int64_t levels = std::int64_t{page.definition_bytes} + page.repetition_bytes;
      if (page.definition_bytes < 0 || page.repetition_bytes < 0 || levels > page.compressed_size ||
          levels > page.uncompressed_size) {
        return source_.file().Corrupt(page.offset, "levels are longer than their page");
      }
      if (!scan_.pages.empty() && page.repetition_bytes > 0) {
        FIRN_ASSIGN(const bool starts_row, StartsRow(page));
        scan_.splits_rows = scan_.splits_rows || !starts_row;
      }
    } else {
      scan_.has_v1 = true;
    }
    (IsDictionaryEncoded(page) ? scan_.has_dictionary_pages : scan_.has_other_pages) = true;
    if (IsDictionaryEncoded(page) && !scan_.dictionary) {
      return source_.file().Corrupt(page.offset, "a dictionary-encoded page without a dictionary");
    }
    if (header.statistics) {
      if (!BoundsAreValues(*header.statistics, source_.file().ElementOf(scan_.leaf))) {
        return source_.file().Corrupt(page.offset, "bounds in a page header are no values of the column's type");
      }
      if (TrustedOnlyInACopy(*header.statistics)) scan_.headers_lie = true;
      page.statistics = static_cast<std::int32_t>(scan_.statistics.size());
      scan_.statistics.push_back(std::move(*header.statistics));
    }
    values_ += page.num_values;
    scan_.data_bytes += page.uncompressed_size;
    scan_.largest_page = std::max<std::int64_t>(scan_.largest_page, page.uncompressed_size);
    scan_.pages.push_back(page);
    return Ok();
  }

  /// Whether the first repetition level is 0. V2 levels are not compressed. Levels that are broken are found later.
  Result<bool> StartsRow(const PageRecord& page) {
    constexpr std::size_t kRunBytes = 6;  // the head of the first run and its first level, of at most 8 bits
    const auto wanted = std::min(static_cast<std::size_t>(page.repetition_bytes), kRunBytes);
    if (behind_header_.size() < wanted) {
      FIRN_ASSIGN(behind_header_, source_.View(page.offset + page.header_bytes, wanted, scratch_));
    }
    std::size_t at = 0;
    while (at < wanted && behind_header_[at] >= 0x80) ++at;
    if (++at >= wanted) return true;
    const auto max = static_cast<std::uint64_t>(source_.file().leaves()[scan_.leaf].max_repetition_level);
    const bool packed = (behind_header_[0] & 1) != 0;
    return (packed ? behind_header_[at] & ((1U << std::min(BitWidth(max), 8U)) - 1) : behind_header_[at]) == 0;
  }

  /// Readers ignore bounds because of the writer's name or the column's order, and a copy has others.
  bool TrustedOnlyInACopy(const parquet::Statistics& statistics) const {
    const InputFile& file = source_.file();
    const bool byte_array = scan_.meta->type == parquet::PhysicalType::kByteArray ||
                            scan_.meta->type == parquet::PhysicalType::kFixedLenByteArray;
    if (byte_array && file.quirks().byte_array_statistics_wrong) return true;
    return (statistics.min_value || statistics.max_value) &&
           file.OrderOf(scan_.leaf) == parquet::ColumnOrder::kUndefined;
  }

  const SourceGroup& source_;
  const std::size_t pages_max_;
  ChunkScan scan_;
  RawBuffer scratch_;
  ByteView behind_header_;  // what is known of the body of the page at hand
  std::uint64_t at_ = 0, end_ = 0;
  std::int64_t values_ = 0;
};

}  // namespace

Result<ChunkScan> ScanChunk(const SourceGroup& source, std::size_t leaf, std::size_t pages_max) {
  return ChunkWalk(source, leaf, pages_max).Run();
}

std::uint32_t Crc32(ByteView bytes) { return libdeflate_crc32(0, bytes.data(), bytes.size()); }

std::uint32_t ContinueCrc32(std::uint32_t crc, ByteView bytes) {
  if (bytes.empty()) return crc;  // a null pointer means "start" to the library
  return libdeflate_crc32(crc, bytes.data(), bytes.size());
}

Result<ByteView> PageFetcher::Fetch(const PageRecord& page) {
  const std::uint64_t size = page.header_bytes + static_cast<std::uint64_t>(page.compressed_size);
  ByteView bytes;
  if (source_->holds(page.offset, size)) {
    FIRN_ASSIGN(bytes, source_->View(page.offset, size, window_));
  } else {
    const bool inside = page.offset >= window_offset_ && page.offset - window_offset_ <= window_.size() &&
                        size <= window_.size() - (page.offset - window_offset_);
    if (!inside) {
      const std::uint64_t ahead = std::min(std::max(size, window_bytes_), source_->file().size_bytes() - page.offset);
      window_offset_ = page.offset;
      FIRN_TRY(source_->View(page.offset, ahead, window_));
    }
    bytes =
        window_.view().subspan(static_cast<std::size_t>(page.offset - window_offset_), static_cast<std::size_t>(size));
  }
  if (page.crc && Crc32(bytes.subspan(page.header_bytes)) != *page.crc) {
    return source_->file().Corrupt(page.offset, "page body does not match its CRC");
  }
  return bytes;
}

Result<ByteView> PageFetcher::FetchBody(const PageRecord& page) {
  FIRN_ASSIGN(const ByteView bytes, Fetch(page));
  return bytes.subspan(page.header_bytes);
}

}  // namespace firn::splice
