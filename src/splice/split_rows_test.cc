// SPDX-License-Identifier: Apache-2.0
// Nested pages that go on with the row of the page before: V1 ones, as Arrow up to 20 makes them, and V2 ones, as
// arrow-go does against the format's rule.
#include <gtest/gtest.h>

#include "splice/arrow_tables_test.h"
#include "splice/filter_job_test.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

/// Lists of one to three numbers below `end`.
TablePtr Lists(std::int64_t rows, std::int64_t first, std::int64_t end = 1'000'000) {
  std::string json;
  for (std::int64_t row = 0; row < rows; ++row) {
    json += row == 0 ? "[[" : ",[";
    for (std::int64_t i = 0; i <= row % 3; ++i)
      json += (i > 0 ? "," : "") + std::to_string((first + row * 10 + i) % end);
    json += "]";
  }
  return JsonTable({{"c", "list<int32>", json + "]"}});
}

FileChoice PagesOfRows(bool dictionary, bool v2 = true) {
  FileChoice choice;
  choice.v2 = v2;
  choice.dictionary = dictionary;
  choice.page_index = false;
  choice.page_rows = 1000;
  return choice;
}

/// The first value of a page becomes one of the row before.
Bytes WithSplitRow(Bytes file, std::size_t number) {
  file = WithPage(file, {0, 0, number}, [](EditedPage& page) {
    EditLevels(page, 1, 3, [](EditedLevels& levels) { levels.repetition[0] = 1; });
    if (page.header.type == parquet::PageType::kDataV2) --page.header.num_rows;
  });
  return WithFooter(file, [](parquet::FileMetaData& footer) {
    --footer.num_rows;
    --footer.row_groups[0].num_rows;
  });
}

TEST(SplitRows, StayWhole) {
  for (const bool dictionary : {false, true}) {
    const TablePtr whole = Lists(5000, 0);
    const Bytes file = WithSplitRow(WriteFile(whole, PagesOfRows(dictionary)), dictionary ? 2 : 1);
    const TablePtr table = ReadFile(file);
    ASSERT_EQ(RowsOf(table), 4999);
    for (const Effort effort : {Effort::kFast, Effort::kBalanced}) {
      Options options;
      options.effort = effort;
      const Result<Spliced> spliced = SpliceFiles({InputOf("a", file), InputOf("b", file)}, options);
      ASSERT_TRUE(spliced) << ToString(spliced.error());
      EXPECT_EQ(DifferenceOf({table, table}, spliced->file), "");
      const Result<Spliced> alone = SpliceFiles({InputOf("a", file)}, options);
      ASSERT_TRUE(alone) << ToString(alone.error());
      EXPECT_EQ(DifferenceOf({table}, alone->file), "");
      // Pages of the output begin with rows: a reader that jumps to one of them finds its first row.
      EXPECT_EQ(alone->report.tiers[static_cast<std::size_t>(Tier::kRowGroup)].chunks, 0);
      for (const std::vector<std::int64_t>& gone :
           {RowRange(0, 3), RowRange(998, 1000), RowRange(999, 2001), RowRange(2500, 2501)}) {
        const auto deleted = std::make_shared<DeletedRowList>(gone);
        Input input = InputOf("a", file);
        input.deleted_rows = deleted;
        const Result<Spliced> filtered = SpliceFiles({input, input}, options);
        ASSERT_TRUE(filtered) << ToString(filtered.error());
        const TablePtr left = Joined(WithoutRows(table, *deleted));
        EXPECT_EQ(DifferenceOf({left, left}, filtered->file), "") << gone[0];
      }
    }
  }
}

struct FullDictionary {
  bool v2 = false;
  std::size_t split_rows = 1;  // pages behind the last indices that go on with a row
  bool is_kept = true;         // as the dictionary of the output
};

class SplitRowsWhereTheDictionaryIsFull : public ::testing::TestWithParam<FullDictionary> {};

TEST_P(SplitRowsWhereTheDictionaryIsFull, StayWhole) {
  FileChoice choice = PagesOfRows(true, GetParam().v2);
  choice.page_rows = 100;
  choice.dictionary_bytes = 9000;
  Bytes file = WriteFile(Lists(5000, 0, 12'000), choice);
  std::size_t plain = 1;
  while (PageOf(file, {0, 0, plain}).header.encoding == parquet::Encoding::kRleDictionary) ++plain;
  ASSERT_GT(plain, 1U);
  for (std::size_t i = 0; i < GetParam().split_rows; ++i) file = WithSplitRow(file, plain + i);
  const TablePtr table = ReadFile(file);
  ASSERT_EQ(RowsOf(table), 5000 - static_cast<std::int64_t>(GetParam().split_rows));
  for (const std::vector<Input>& inputs :
       {std::vector{InputOf("a", file)}, std::vector{InputOf("a", file), InputOf("b", file)}}) {
    for (const parquet::Codec codec : {parquet::Codec::kUncompressed, parquet::Codec::kZstd}) {
      Options options;
      options.codec = codec;
      const Result<Spliced> spliced = SpliceFiles(inputs, options);
      ASSERT_TRUE(spliced) << ToString(spliced.error());
      EXPECT_EQ(DifferenceOf(std::vector<TablePtr>(inputs.size(), table), spliced->file), "");
      const parquet::FileMetaData footer = FooterOf(spliced->file);
      EXPECT_EQ(footer.row_groups[0].columns[0].meta->dictionary_page_offset.has_value(), GetParam().is_kept);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Pages, SplitRowsWhereTheDictionaryIsFull,
                         ::testing::Values(FullDictionary{false, 1, true}, FullDictionary{true, 1, true},
                                           FullDictionary{false, 5, true}, FullDictionary{true, 5, true},
                                           FullDictionary{false, 16, true}, FullDictionary{false, 17, false},
                                           FullDictionary{true, 20, false}));

}  // namespace
}  // namespace firn::splice::testing
