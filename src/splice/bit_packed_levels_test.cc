// SPDX-License-Identifier: Apache-2.0
#include "splice/bit_packed_levels.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "splice/arrow_tables_test.h"
#include "splice/bit_pack.h"
#include "splice/hybrid.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

using parquet::Encoding;

/// From the most significant bit on, as Encodings.md draws it.
Bytes Packed(const std::vector<std::uint32_t>& levels, unsigned width) {
  Bytes bytes((levels.size() * width + 7) / 8, 0);
  std::size_t bit = 0;
  for (const std::uint32_t level : levels) {
    for (unsigned i = width; i > 0; --i, ++bit) {
      if ((level >> (i - 1) & 1) != 0) bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] | 0x80 >> bit % 8);
    }
  }
  return bytes;
}

/// Takes levels as Arrow writes them off the front of `body` and appends them to `packed` in the old encoding.
void Repack(Bytes& body, std::size_t count, unsigned max, Bytes& packed) {
  if (max == 0) return;
  const std::uint32_t size = LoadLittle<std::uint32_t>(body.data());
  RawBuffer levels;
  levels.Append(ByteView(body).subspan(4, size));
  std::vector<std::uint32_t> read(count);
  ASSERT_EQ(HybridReader(levels.view(), BitWidth(max)).Read(read.data(), count), count);
  const Bytes old = Packed(read, BitWidth(max));
  packed.insert(packed.end(), old.begin(), old.end());
  body.erase(body.begin(), body.begin() + 4 + size);
}

Bytes WithOldLevels(Bytes file, unsigned max_repetition, unsigned max_definition) {
  const std::size_t pages = OffsetIndexOf(file, 0, 0)->pages.size();
  const bool dictionary = FooterOf(file).row_groups[0].columns[0].meta->dictionary_page_offset.has_value();
  for (std::size_t page = 0; page < pages; ++page) {
    file = WithPage(file, {0, 0, page + dictionary}, [&](EditedPage& edited) {
      Bytes packed;
      const auto values = static_cast<std::size_t>(edited.header.num_values);
      Repack(edited.body, values, max_repetition, packed);
      Repack(edited.body, values, max_definition, packed);
      packed.insert(packed.end(), edited.body.begin(), edited.body.end());
      edited.body = std::move(packed);
      edited.header.definition_level_encoding = Encoding::kBitPacked;
      edited.header.repetition_level_encoding = Encoding::kBitPacked;
    });
  }
  return file;
}

TablePtr Table(const std::string& type, std::int64_t rows) { return SeededTable({type}, rows, 20, 11, 0.3); }

TEST(BitPackedLevels, FromTheMostSignificantBit) {
  // The example of Encodings.md: 0 to 7 in three bits each.
  const Bytes body = {0b00000101, 0b00111001, 0b01110111, 0xAB};
  ByteView rest(body);
  const auto runs = LevelsAsRuns(rest, 8, 3);
  ASSERT_TRUE(runs) << ToString(runs.error());
  EXPECT_EQ(rest.size(), 1U);
  ASSERT_EQ(LoadLittle<std::uint32_t>(runs->data()), runs->size() - 4);
  RawBuffer levels;
  levels.Append(ByteView(*runs).subspan(4));
  std::vector<std::uint32_t> read(8);
  ASSERT_EQ(HybridReader(levels.view(), 3).Read(read.data(), 8), 8U);
  EXPECT_EQ(read, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(BitPackedLevels, TooFewBytes) {
  const Bytes body = {1, 2};
  ByteView rest(body);
  EXPECT_EQ(LevelsAsRuns(rest, 17, 1).error().code, Code::kCorrupt);
}

TEST(BitPackedLevels, OfFilesAreRead) {
  struct Case {
    const char* type;
    unsigned repetition, definition;
  };
  for (const Case& one : {Case{"int64", 0, 1}, Case{"string", 0, 1}, Case{"list<int32>", 1, 3}}) {
    for (const bool dictionary : {true, false}) {
      for (const parquet::Codec codec : {parquet::Codec::kZstd, parquet::Codec::kUncompressed}) {
        FileChoice choice;
        choice.codec = codec;
        choice.dictionary = dictionary;
        choice.page_rows = 300;
        const TablePtr table = Table(one.type, 1000);
        const Bytes sound = WriteFile(table, choice), old = WithOldLevels(sound, one.repetition, one.definition);
        ASSERT_NE(sound, old);
        const auto spliced = SpliceFiles({InputOf("a", old), InputOf("b", sound), InputOf("c", old)});
        ASSERT_TRUE(spliced) << one.type << ": " << ToString(spliced.error());
        EXPECT_EQ(DifferenceOf({table, table, table}, spliced->file), "") << one.type;
        EXPECT_EQ(spliced->report.tiers[static_cast<std::size_t>(Tier::kDecode)].chunks, 2);
      }
    }
  }
}

TEST(BitPackedLevels, OfAColumnThatIsPromoted) {
  const TablePtr table = Table("int32", 700);
  const Bytes old = WithOldLevels(WriteFile(table), 0, 1);
  Options options;
  options.schema = FooterOf(WriteFile(Widened(table))).schema;
  Input input = InputOf("a", old);
  input.columns.resize(1);
  input.columns[0].leaf = 0;
  const auto spliced = SpliceFiles({input, input}, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(DifferenceOf({Widened(table), Widened(table)}, spliced->file), "");
}

}  // namespace
}  // namespace firn::splice::testing
