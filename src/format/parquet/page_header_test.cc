// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "format/parquet/footer.h"

namespace firn::parquet {
namespace {

PageHeader Header(PageType type) {
  PageHeader header;
  header.type = type;
  header.uncompressed_size = 1000;
  header.compressed_size = 900;
  header.num_values = 128;
  header.encoding = Encoding::kRleDictionary;
  return header;
}

std::vector<PageHeader> Headers() {
  std::vector<PageHeader> headers = {Header(PageType::kData), Header(PageType::kDictionary), Header(PageType::kDataV2),
                                     Header(PageType::kIndex)};
  headers[0].crc = -5;
  headers[0].definition_level_encoding = Encoding::kBitPacked;
  headers[0].statistics.emplace().min_value = Bytes{1, 2};
  headers[1].is_sorted = true;
  headers[2].num_nulls = 8;
  headers[2].num_rows = 100;
  headers[2].definition_levels_bytes = 20;
  headers[2].repetition_levels_bytes = 30;
  headers[2].is_compressed = false;
  return headers;
}

TEST(PageHeader, EveryKind_RoundTripsWithBytesBehindIt) {
  for (const PageHeader& header : Headers()) {
    Bytes bytes;
    WritePageHeader(header, bytes);
    const std::size_t size = bytes.size();
    bytes.insert(bytes.end(), 50, 0xff);
    const Result<ParsedPageHeader> parsed = ParsePageHeader(bytes);
    ASSERT_TRUE(parsed) << parsed.error().message;
    EXPECT_EQ(parsed->header_bytes, size);
    Bytes again;
    WritePageHeader(parsed->header, again);
    EXPECT_EQ(again, Bytes(bytes.begin(), bytes.begin() + static_cast<long>(size)));
    EXPECT_EQ(parsed->header.type, header.type);
    EXPECT_EQ(parsed->header.crc, header.crc);
    EXPECT_EQ(parsed->header.num_rows, header.num_rows);
    EXPECT_EQ(parsed->header.is_compressed, header.is_compressed);
    EXPECT_EQ(parsed->header.definition_level_encoding, header.definition_level_encoding);
  }
}

TEST(PageHeader, AbsentCompressedFlag_MeansCompressed) {
  PageHeader header = Header(PageType::kDataV2);
  Bytes bytes;
  WritePageHeader(header, bytes);
  // The flag is the last field of the inner struct: one byte before the two stops.
  bytes.erase(bytes.end() - 3);
  const Result<ParsedPageHeader> parsed = ParsePageHeader(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->header.is_compressed);
}

TEST(PageHeader, Truncated_IsCorrupt) {
  for (const PageHeader& header : Headers()) {
    Bytes bytes;
    WritePageHeader(header, bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      const Result<ParsedPageHeader> parsed = ParsePageHeader(ByteView(bytes).first(size));
      ASSERT_FALSE(parsed);
      EXPECT_EQ(parsed.error().code, Code::kCorrupt);
    }
  }
}

TEST(PageHeader, ImpossibleNumbers_AreCorrupt) {
  void (*const edits[])(PageHeader&) = {
      [](PageHeader& h) { h.compressed_size = -1; },
      [](PageHeader& h) { h.uncompressed_size = -1; },
      [](PageHeader& h) { h.num_values = -1; },
      [](PageHeader& h) { h.num_nulls = 129; },
      [](PageHeader& h) { h.num_nulls = -1; },
      [](PageHeader& h) { h.num_rows = 129; },
      [](PageHeader& h) { h.definition_levels_bytes = 901; },
      [](PageHeader& h) { h.definition_levels_bytes = 2147483647, h.repetition_levels_bytes = 2147483647; },
      [](PageHeader& h) { h.repetition_levels_bytes = -1; },
  };
  for (const auto edit : edits) {
    PageHeader header = Header(PageType::kDataV2);
    edit(header);
    Bytes bytes;
    WritePageHeader(header, bytes);
    EXPECT_FALSE(ParsePageHeader(bytes));
  }
}

TEST(PageHeader, BodyOfAnotherType_IsCorrupt) {
  Bytes bytes;
  WritePageHeader(Header(PageType::kData), bytes);
  bytes[1] = 4;  // zigzag of PageType::kDictionary
  EXPECT_FALSE(ParsePageHeader(bytes));
}

TEST(PageHeader, RequiredMemberOfAnotherWireType_IsMissing) {
  Bytes bytes;
  WritePageHeader(Header(PageType::kData), bytes);
  std::size_t members = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); ++i) {
    if (bytes[i] != 0x15) continue;  // the next field, an i32
    Bytes changed = bytes;
    changed[i] = 0x14;  // an i16
    EXPECT_FALSE(ParsePageHeader(changed)) << "byte " << i;
    ++members;
  }
  EXPECT_EQ(members, 7U);
}

TEST(PageHeader, UnknownPageType_CanBeSkipped) {
  Bytes bytes;
  WritePageHeader(Header(PageType::kIndex), bytes);
  bytes[1] = 18;
  const Result<ParsedPageHeader> parsed = ParsePageHeader(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->header.type, static_cast<PageType>(9));
  EXPECT_EQ(parsed->header.compressed_size, 900);
}

}  // namespace
}  // namespace firn::parquet
