// SPDX-License-Identifier: Apache-2.0
#include "splice/page_surgery_test.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "format/parquet/compression.h"
#include "format/parquet/footer.h"
#include "splice/arrow_tables_test.h"
#include "splice/bit_pack.h"
#include "splice/chunk_scan.h"
#include "splice/hybrid.h"

namespace firn::splice::testing {
namespace {

struct StoredPage {
  std::size_t offset = 0, header_bytes = 0, size = 0;
  parquet::PageHeader header;
  Bytes stored;
};

StoredPage Find(const Bytes& file, const parquet::ColumnMetaData& meta, std::size_t index) {
  StoredPage page;
  page.offset = static_cast<std::size_t>(meta.dictionary_page_offset.value_or(meta.data_page_offset));
  for (std::size_t i = 0;; ++i) {
    auto parsed = parquet::ParsePageHeader(ByteView(file).subspan(page.offset));
    EXPECT_TRUE(parsed);
    page.header = std::move(parsed->header);
    page.header_bytes = parsed->header_bytes;
    page.size = page.header_bytes + static_cast<std::size_t>(page.header.compressed_size);
    if (i == index) break;
    page.offset += page.size;
  }
  const auto begin = file.begin() + static_cast<std::ptrdiff_t>(page.offset);
  page.stored.assign(begin + static_cast<std::ptrdiff_t>(page.header_bytes),
                     begin + static_cast<std::ptrdiff_t>(page.size));
  return page;
}

std::size_t LevelBytes(const parquet::PageHeader& header, const Bytes& body) {
  if (header.type != parquet::PageType::kDataV2) return 0;
  const std::int64_t levels = std::int64_t{header.definition_levels_bytes} + header.repetition_levels_bytes;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(levels, 0, static_cast<std::int64_t>(body.size())));
}

bool IsCompressed(const parquet::PageHeader& header, parquet::Codec codec) {
  return codec != parquet::Codec::kUncompressed && (header.type != parquet::PageType::kDataV2 || header.is_compressed);
}

Bytes Decompressed(const StoredPage& page, parquet::Codec codec) {
  if (!IsCompressed(page.header, codec)) return page.stored;
  const std::size_t levels = LevelBytes(page.header, page.stored);
  Bytes body(page.stored.begin(), page.stored.begin() + static_cast<std::ptrdiff_t>(levels));
  body.resize(static_cast<std::size_t>(page.header.uncompressed_size));
  parquet::PageCodecs codecs;
  EXPECT_TRUE(codecs.Decompress(codec, ByteView(page.stored).subspan(levels), std::span(body).subspan(levels)));
  return body;
}

Bytes Stored(const EditedPage& page, parquet::Codec codec) {
  if (page.stored) return *page.stored;
  if (!IsCompressed(page.header, codec)) return page.body;
  const std::size_t levels = LevelBytes(page.header, page.body);
  parquet::PageCodecs codecs;
  const Result<ByteView> packed = codecs.Compress(codec, parquet::kDefaultLevel, ByteView(page.body).subspan(levels));
  EXPECT_TRUE(packed);
  Bytes stored(page.body.begin(), page.body.begin() + static_cast<std::ptrdiff_t>(levels));
  stored.insert(stored.end(), packed->begin(), packed->end());
  return stored;
}

/// Everything behind the page moves.
void Move(parquet::FileMetaData& footer, std::size_t from, std::int64_t by) {
  const auto move = [&](std::int64_t& offset) {
    if (offset > static_cast<std::int64_t>(from)) offset += by;
  };
  for (parquet::RowGroup& group : footer.row_groups) {
    if (group.file_offset) move(*group.file_offset);
    for (parquet::ColumnChunk& chunk : group.columns) {
      chunk.offset_index_offset = chunk.column_index_offset = std::nullopt;
      chunk.offset_index_length = chunk.column_index_length = std::nullopt;
      move(chunk.meta->data_page_offset);
      if (chunk.meta->dictionary_page_offset) move(*chunk.meta->dictionary_page_offset);
    }
  }
}

}  // namespace

EditedPage PageOf(const Bytes& file, const PagePlace& place) {
  const parquet::FileMetaData footer = FooterOf(file);
  const parquet::ColumnMetaData& meta = *footer.row_groups[place.row_group].columns[place.leaf].meta;
  const StoredPage page = Find(file, meta, place.page);
  return {page.header, Decompressed(page, meta.codec), std::nullopt};
}

Bytes WithFooter(const Bytes& file, const std::function<void(parquet::FileMetaData&)>& edit) {
  parquet::FileMetaData footer = FooterOf(file);
  edit(footer);
  const std::uint32_t size = LoadLittle<std::uint32_t>(file.data() + file.size() - 8);
  Bytes changed(file.begin(), file.end() - 8 - size);
  const Bytes tail = parquet::WriteFooter(footer);
  changed.insert(changed.end(), tail.begin(), tail.end());
  return changed;
}

void EditLevels(EditedPage& page, unsigned max_repetition, unsigned max_definition,
                const std::function<void(EditedLevels&)>& edit) {
  const bool is_v2 = page.header.type == parquet::PageType::kDataV2;
  RawBuffer padded;
  padded.Append(page.body);
  // V1 has the lengths in front of the levels.
  std::size_t at = 0;
  const auto take = [&](std::int32_t header_bytes) {
    if (!is_v2) at += sizeof(std::uint32_t);
    const auto size = is_v2 ? static_cast<std::size_t>(header_bytes)
                            : LoadLittle<std::uint32_t>(page.body.data() + at - sizeof(std::uint32_t));
    const ByteView bytes = padded.view().subspan(at, size);
    at += size;
    return bytes;
  };
  const auto count = static_cast<std::size_t>(page.header.num_values);
  EditedLevels levels{std::vector<std::uint32_t>(count), std::vector<std::uint32_t>(count)};
  HybridReader repetition(take(page.header.repetition_levels_bytes), BitWidth(max_repetition));
  HybridReader definition(take(page.header.definition_levels_bytes), BitWidth(max_definition));
  ASSERT_EQ(repetition.Read(levels.repetition.data(), count), count);
  ASSERT_EQ(definition.Read(levels.definition.data(), count), count);
  edit(levels);
  Bytes body;
  const auto write = [&](unsigned max_level, const std::vector<std::uint32_t>& values) {
    HybridWriter writer;
    writer.Reset(BitWidth(max_level));
    writer.Append(values.data(), values.size());
    const ByteView bytes = writer.Finish();
    const auto size = static_cast<std::uint32_t>(bytes.size());
    for (unsigned i = 0; !is_v2 && i < sizeof size; ++i) body.push_back(static_cast<std::uint8_t>(size >> (8 * i)));
    body.insert(body.end(), bytes.begin(), bytes.end());
    return static_cast<std::int32_t>(bytes.size());
  };
  const std::int32_t repetition_bytes = write(max_repetition, levels.repetition);
  const std::int32_t definition_bytes = write(max_definition, levels.definition);
  if (is_v2) {
    page.header.repetition_levels_bytes = repetition_bytes;
    page.header.definition_levels_bytes = definition_bytes;
  }
  body.insert(body.end(), page.body.begin() + static_cast<std::ptrdiff_t>(at), page.body.end());
  page.body = std::move(body);
}

Bytes WithPage(const Bytes& file, const PagePlace& place, const std::function<void(EditedPage&)>& edit) {
  parquet::FileMetaData footer = FooterOf(file);
  parquet::ColumnMetaData& meta = *footer.row_groups[place.row_group].columns[place.leaf].meta;
  const StoredPage old = Find(file, meta, place.page);
  EditedPage page{old.header, Decompressed(old, meta.codec), std::nullopt};
  edit(page);
  const Bytes stored = Stored(page, meta.codec);
  parquet::PageHeader& header = page.header;
  if (header.compressed_size == old.header.compressed_size) {
    header.compressed_size = static_cast<std::int32_t>(stored.size());
  }
  if (header.uncompressed_size == old.header.uncompressed_size) {
    header.uncompressed_size = static_cast<std::int32_t>(page.body.size());
  }
  if (header.crc && header.crc == old.header.crc) header.crc = static_cast<std::int32_t>(Crc32(stored));
  Bytes changed(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(old.offset));
  parquet::WritePageHeader(header, changed);
  changed.insert(changed.end(), stored.begin(), stored.end());
  const std::int64_t by = static_cast<std::int64_t>(changed.size() - old.offset) - static_cast<std::int64_t>(old.size);
  const std::uint32_t footer_size = LoadLittle<std::uint32_t>(file.data() + file.size() - 8);
  changed.insert(changed.end(), file.begin() + static_cast<std::ptrdiff_t>(old.offset + old.size),
                 file.end() - 8 - footer_size);
  meta.total_compressed_size += by;
  Move(footer, old.offset, by);
  const Bytes tail = parquet::WriteFooter(footer);
  changed.insert(changed.end(), tail.begin(), tail.end());
  return changed;
}

}  // namespace firn::splice::testing
