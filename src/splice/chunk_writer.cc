// SPDX-License-Identifier: Apache-2.0
#include "splice/chunk_writer.h"

#include <algorithm>
#include <limits>
#include <string>

#include "format/parquet/footer.h"
#include "splice/page_index_build.h"

namespace firn::splice {

namespace {

using parquet::Encoding;
using parquet::PageType;

constexpr std::size_t kPageBytesMax = std::numeric_limits<std::int32_t>::max();
constexpr int kFasterZstdLevel = -2;
/// Above 256 KiB the default level only sees what repeats over 7 bytes and more: most of what wide numbers have in
/// common is shorter. This one sees 6 bytes, for a third more of the time.
constexpr int kDenserZstdLevel = 2;
constexpr double kDenserShare = 0.85;
/// Of numbers as long as what zstd compresses like a large page: up to 256 KiB it has other parameters.
constexpr std::size_t kNumberSampleBytes = 257 << 10, kSampleBytes = 128 << 10, kSampleBytesMin = 32 << 10;
constexpr int kPagesPerSample = 32;
constexpr std::size_t kPressBytesMin = 32 << 10;  // below, handing it over costs more

}  // namespace

ChunkWriter::ChunkWriter(const OutputColumn& column, const ChunkSettings& settings, LevelChoice& level,
                         parquet::PageCodecs& codecs, PagePresses* presses, ChunkSink sink)
    : column_(column), settings_(settings), level_(level), codecs_(codecs), presses_(presses), sink_(std::move(sink)) {
  chunk_.meta.type = column.type;
  chunk_.meta.path_in_schema = column.path;
  chunk_.meta.codec = settings.codec;
  if (column.max_definition > 0 || column.max_repetition > 0) chunk_.meta.encodings.push_back(Encoding::kRle);
}

void ChunkWriter::CountEncoding(PageType type, Encoding encoding) {
  std::vector<Encoding>& encodings = chunk_.meta.encodings;
  if (std::find(encodings.begin(), encodings.end(), encoding) == encodings.end()) encodings.push_back(encoding);
  for (parquet::PageEncodingStats& stats : chunk_.meta.encoding_stats) {
    if (stats.page_type == type && stats.encoding == encoding) {
      ++stats.count;
      return;
    }
  }
  chunk_.meta.encoding_stats.push_back({type, encoding, 1});
}

/// Header, then levels and stored body.
Status ChunkWriter::Put(parquet::PageHeader& header, ByteView levels, ByteView stored) {
  header.compressed_size = static_cast<std::int32_t>(levels.size() + stored.size());
  header.crc = static_cast<std::int32_t>(levels.empty() ? Crc32(stored) : ContinueCrc32(Crc32(levels), stored));
  header_bytes_.clear();
  parquet::WritePageHeader(header, header_bytes_);
  FIRN_TRY(sink_.write(header_bytes_));
  if (!levels.empty()) FIRN_TRY(sink_.write(levels));
  FIRN_TRY(sink_.write(stored));
  const auto header_size = static_cast<std::int64_t>(header_bytes_.size());
  chunk_.meta.total_compressed_size += header_size + header.compressed_size;
  chunk_.meta.total_uncompressed_size += header_size + header.uncompressed_size;
  position_ += header_size + header.compressed_size;
  CountEncoding(header.type, header.encoding);
  return Ok();
}

Status ChunkWriter::WriteDictionary(ByteView plain, std::size_t entries) {
  if (plain.size() > kPageBytesMax) return Error{Code::kLimit, "a dictionary page above 2 GiB"};
  parquet::PageHeader header;
  header.type = PageType::kDictionary;
  header.encoding = Encoding::kPlain;
  header.num_values = static_cast<std::int32_t>(entries);
  header.uncompressed_size = static_cast<std::int32_t>(plain.size());
  FIRN_ASSIGN(const ByteView stored, codecs_.Compress(settings_.codec, settings_.codec_level, plain));
  if (stored.size() > kPageBytesMax) return Error{Code::kLimit, "a dictionary page above 2 GiB"};
  chunk_.meta.dictionary_page_offset = position_;
  return Put(header, {}, stored);
}

/// As it is stored.
Status ChunkWriter::PutCopy(const PageRecord& page, ByteView header_and_body) {
  const std::int64_t size = std::int64_t{page.header_bytes} + page.compressed_size;
  FIRN_TRY(header_and_body.empty() ? sink_.copy({page.offset, static_cast<std::uint64_t>(size)})
                                   : sink_.write(header_and_body));
  chunk_.meta.total_compressed_size += size;
  chunk_.meta.total_uncompressed_size += std::int64_t{page.header_bytes} + page.uncompressed_size;
  CountEncoding(page.type, page.encoding);
  return Ok();
}

Status ChunkWriter::CopyDictionary(const SourceGroup& source, const PageRecord& page, ByteView header_and_body) {
  FIRN_TRY(PutCopy(page, TakesPagesOf(source) ? ByteView() : header_and_body));
  chunk_.meta.dictionary_page_offset = position_;
  position_ += std::int64_t{page.header_bytes} + page.compressed_size;
  return Ok();
}

void ChunkWriter::AddFacts(std::int64_t offset, std::size_t size, PageFacts facts) {
  if (facts_.empty()) chunk_.meta.data_page_offset = offset;
  rows_known_ = rows_known_ && facts.rows.has_value();
  chunk_.locations.push_back({offset, static_cast<std::int32_t>(size), next_row_});
  if (facts.rows) next_row_ += *facts.rows;
  chunk_.meta.num_values += facts.values;
  facts_.push_back(std::move(facts));
}

/// Of a page's body.
Result<int> ChunkWriter::LevelFor(Encoding encoding, ByteView body) {
  if (settings_.faster_level_share <= 0 || settings_.codec != parquet::Codec::kZstd) return settings_.codec_level;
  if (encoding == Encoding::kRleDictionary || body.size() < kSampleBytesMin) return settings_.codec_level;
  if (level_.pages_left-- > 0) return level_.level;
  // The end: of DELTA_LENGTH_BYTE_ARRAY the start holds lengths alone.
  const bool numbers = encoding == Encoding::kPlain && column_.type != parquet::PhysicalType::kByteArray;
  const ByteView sample = body.last(std::min(body.size(), numbers ? kNumberSampleBytes : kSampleBytes));
  FIRN_ASSIGN(ByteView stored, codecs_.Compress(settings_.codec, settings_.codec_level, sample));
  double best = static_cast<double>(stored.size());
  level_ = {settings_.codec_level, kPagesPerSample - 1};
  FIRN_ASSIGN(stored, codecs_.Compress(settings_.codec, kFasterZstdLevel, sample));
  if (static_cast<double>(stored.size()) <= best * settings_.faster_level_share) {
    best = static_cast<double>(stored.size());
    level_.level = kFasterZstdLevel;
  }
  if (numbers) {
    FIRN_ASSIGN(stored, codecs_.Compress(settings_.codec, kDenserZstdLevel, sample));
    if (static_cast<double>(stored.size()) <= best * kDenserShare) level_.level = kDenserZstdLevel;
  }
  return level_.level;
}

Status ChunkWriter::WritePage(parquet::PageHeader header, ByteView levels, ByteView body, PageFacts facts) {
  const std::size_t uncompressed = levels.size() + body.size();
  if (uncompressed > kPageBytesMax) return Error{Code::kLimit, "a page above 2 GiB"};
  header.uncompressed_size = static_cast<std::int32_t>(uncompressed);
  header.num_values = static_cast<std::int32_t>(facts.values);
  FIRN_ASSIGN(const int level, LevelFor(header.encoding, body));
  if (MayPress(levels, body)) {
    PutOff(header, levels, body, std::move(facts), level);
    return pending_.size() > PagePresses::kPagesMax ? WriteFirstPending() : Ok();
  }
  FIRN_ASSIGN(const ByteView stored, codecs_.Compress(settings_.codec, level, body));
  if (!pending_.empty()) {
    stored_.Clear();  // the pages before may need the codec's buffer
    stored_.Append(stored);
    FIRN_TRY(WritePending());
    return WriteBuilt(header, levels, body, stored_.view(), std::move(facts));
  }
  return WriteBuilt(header, levels, body, stored, std::move(facts));
}

Status ChunkWriter::WriteBuilt(parquet::PageHeader header, ByteView levels, ByteView body, ByteView stored,
                               PageFacts facts) {
  if (header.type == PageType::kDataV2) {
    header.num_nulls = static_cast<std::int32_t>(facts.nulls.value_or(0));
    header.num_rows = static_cast<std::int32_t>(facts.rows.value_or(0));
    header.is_compressed = settings_.codec != parquet::Codec::kUncompressed && stored.size() < body.size();
    if (!header.is_compressed) stored = body;
  }
  if (levels.size() + stored.size() > kPageBytesMax) return Error{Code::kLimit, "a page above 2 GiB"};
  const std::int64_t offset = position_;
  FIRN_TRY(Put(header, levels, stored));
  AddFacts(offset, static_cast<std::size_t>(position_ - offset), std::move(facts));
  return Ok();
}

/// Whether another thread is likely to compress the page sooner.
bool ChunkWriter::MayPress(ByteView levels, ByteView body) const {
  return presses_ != nullptr && settings_.codec != parquet::Codec::kUncompressed && body.size() >= kPressBytesMin &&
         levels.size() + body.size() <= PagePresses::kBodyBytesMax && presses_->HasRoom();
}

void ChunkWriter::PutOff(parquet::PageHeader header, ByteView levels, ByteView body, PageFacts facts, int level) {
  Pending& pending = pending_.emplace_back();
  pending.header = header;
  pending.levels.Append(levels);
  pending.facts = std::move(facts);
  pending.page = std::make_shared<PressedPage>();
  pending.page->codec = settings_.codec;
  pending.page->level = level;
  pending.page->body.Append(body);
  presses_->Offer(pending.page);
}

Status ChunkWriter::WriteFirstPending() {
  const Pending first = std::move(pending_.front());
  pending_.pop_front();
  PressedPage& page = *first.page;
  FIRN_TRY(presses_->Take(page, codecs_));
  return WriteBuilt(first.header, first.levels.view(), page.body.view(), page.stored.view(), first.facts);
}

Status ChunkWriter::WritePending() {
  while (!pending_.empty()) FIRN_TRY(WriteFirstPending());
  return Ok();
}

Status ChunkWriter::CopyPage(const PageRecord& page, ByteView header_and_body, PageFacts facts) {
  FIRN_TRY(WritePending());
  FIRN_TRY(PutCopy(page, header_and_body));
  const std::int64_t size = std::int64_t{page.header_bytes} + page.compressed_size;
  AddFacts(position_, static_cast<std::size_t>(size), std::move(facts));
  position_ += size;
  return Ok();
}

Status ChunkWriter::CopyBody(parquet::PageHeader header, ByteView levels, ByteView stored, PageFacts facts) {
  const std::size_t uncompressed = levels.size() + static_cast<std::size_t>(header.uncompressed_size);
  if (uncompressed > kPageBytesMax || levels.size() + stored.size() > kPageBytesMax) {
    return Error{Code::kLimit, "a page above 2 GiB"};
  }
  header.uncompressed_size = static_cast<std::int32_t>(uncompressed);
  FIRN_TRY(WritePending());
  const std::int64_t offset = position_;
  FIRN_TRY(Put(header, levels, stored));
  AddFacts(offset, static_cast<std::size_t>(position_ - offset), std::move(facts));
  return Ok();
}

Result<MergedChunk> ChunkWriter::Finish(std::int64_t rows) {
  FIRN_TRY(WritePending());
  if (rows_known_ && next_row_ != rows) {
    return Error{Code::kInternal, "column " + std::to_string(column_.index) + ": " + std::to_string(next_row_) +
                                      " rows were written, not " + std::to_string(rows)};
  }
  chunk_.pages = static_cast<std::int64_t>(facts_.size()) + (chunk_.meta.dictionary_page_offset ? 1 : 0);
  if (rows_known_) {
    chunk_.column_index = BuildColumnIndex(column_, facts_);
  } else {
    chunk_.locations.clear();
  }
  return std::move(chunk_);
}

}  // namespace firn::splice
