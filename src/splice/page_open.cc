// SPDX-License-Identifier: Apache-2.0
#include "splice/page_open.h"

#include <string>

#include "splice/bit_pack.h"
#include "splice/hybrid.h"

namespace firn::splice {

namespace {

using parquet::Codec;
using parquet::Encoding;

/// Takes levels with their 4-byte length off the front of `body`.
Result<ByteView> TakeLevels(ByteView& body, Encoding encoding) {
  if (encoding != Encoding::kRle) return Error{Code::kUnsupported, "levels in the deprecated BIT_PACKED encoding"};
  if (body.size() < 4) return Error{Code::kCorrupt, "levels without a length"};
  const std::uint32_t size = LoadLittle<std::uint32_t>(body.data());
  if (size > body.size() - 4) return Error{Code::kCorrupt, "levels are longer than their page"};
  const ByteView levels = body.subspan(4, size);
  body = body.subspan(4 + size);
  return levels;
}

/// ScanChunk has checked that the levels fit into both sizes.
PageSections LevelsOfV2(const PageRecord& page, ByteView body) {
  const auto repetition = static_cast<std::size_t>(page.repetition_bytes);
  return {body.first(repetition), body.subspan(repetition, static_cast<std::size_t>(page.definition_bytes)), {}};
}

}  // namespace

Result<ByteView> PageOpener::Decompress(Codec codec, ByteView in, std::int64_t size_bytes) {
  if (codec == Codec::kUncompressed) {
    if (in.size() != static_cast<std::size_t>(size_bytes)) {
      return Error{Code::kCorrupt, "an uncompressed page with two different sizes"};
    }
    return in;
  }
  if (size_bytes > page_bytes_max_) {
    return Error{Code::kLimit,
                 "a page of " + std::to_string(size_bytes) + " bytes is more than the memory limit allows"};
  }
  body_.Resize(static_cast<std::size_t>(size_bytes));
  FIRN_TRY(codecs_->Decompress(codec, in, body_.span()));
  return body_.view();
}

bool StartsRow(ByteView repetition, std::uint32_t max_repetition) {
  HybridReader reader(repetition, BitWidth(max_repetition));
  std::uint32_t level = 1;
  return reader.Read(&level, 1) == 1 && level == 0;
}

Result<PageSections> PageOpener::Open(const PageRecord& page, ByteView body, Codec codec, bool has_repetition,
                                      bool has_definition) {
  PageSections sections;
  if (page.type == parquet::PageType::kDataV2) {
    sections = LevelsOfV2(page, body);
    const std::size_t levels = sections.repetition.size() + sections.definition.size();
    FIRN_ASSIGN(sections.values, Decompress(page.is_compressed ? codec : Codec::kUncompressed, body.subspan(levels),
                                            std::int64_t{page.uncompressed_size} - static_cast<std::int64_t>(levels)));
    return sections;
  }
  FIRN_ASSIGN(ByteView whole, Decompress(codec, body, page.uncompressed_size));
  if (has_repetition) {
    FIRN_ASSIGN(sections.repetition, TakeLevels(whole, page.repetition_encoding));
  }
  if (has_definition) {
    FIRN_ASSIGN(sections.definition, TakeLevels(whole, page.definition_encoding));
  }
  sections.values = whole;
  return sections;
}

Result<PageSections> PageOpener::OpenLevels(const PageRecord& page, ByteView body, Codec codec, bool has_repetition,
                                            bool has_definition) {
  if (page.type == parquet::PageType::kDataV2) return LevelsOfV2(page, body);
  return Open(page, body, codec, has_repetition, has_definition);
}

Result<ByteView> PageOpener::OpenDictionary(const PageRecord& page, ByteView body, Codec codec) {
  if (page.encoding != Encoding::kPlain && page.encoding != Encoding::kPlainDictionary) {
    return Error{Code::kUnsupported, "a dictionary page that is not PLAIN"};
  }
  return Decompress(codec, body, page.uncompressed_size);
}

}  // namespace firn::splice
