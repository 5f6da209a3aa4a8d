// SPDX-License-Identifier: Apache-2.0
// Pages that are copied behind new headers.
#include <gtest/gtest.h>

#include "splice/arrow_tables_test.h"
#include "splice/page_surgery_test.h"

namespace firn::splice::testing {
namespace {

using parquet::Codec;

TEST(SpliceHeader, RequiredThatBecomesOptional_BodiesStayBehindNewHeaders) {
  // Levels of V2 pages are not compressed, and those of V1 pages only where nothing is.
  for (const bool v2 : {true, false}) {
    FileChoice choice;
    choice.v2 = v2;
    choice.crc = true;
    choice.codec = v2 ? Codec::kZstd : Codec::kUncompressed;
    for (const bool dictionary : {false, true}) {
      choice.dictionary = dictionary;
      choice.page_rows = dictionary ? 1 << 20 : 20000;
      const std::int64_t rows = dictionary ? 300000 : 40000, distinct = dictionary ? 100 : 0;
      const TablePtr required = SeededTable({"int64"}, rows, distinct, 3, 0),
                     optional = SeededTable({"int64"}, 50, 5, 3, 0.1);
      Options options;
      options.schema = FooterOf(WriteFile(optional, choice)).schema;
      const Bytes file = WriteFile(required, choice);
      std::vector<Input> inputs = {InputOf("a", file), InputOf("b", file)};
      for (Input& input : inputs) input.columns.resize(1), input.columns[0].leaf = 0;
      const Spliced spliced = MustSplice(inputs, options);
      EXPECT_EQ(DifferenceOf({required, required}, spliced.file), "");
      EXPECT_EQ(ChunksOf(spliced.report, Tier::kHeader), 2) << v2 << dictionary;
      const EditedPage page = PageOf(spliced.file, {0, 0, dictionary ? 1U : 0U});
      EXPECT_EQ(page.header.type, v2 ? parquet::PageType::kDataV2 : parquet::PageType::kData);
      EXPECT_TRUE(page.header.crc);
      EXPECT_GT(page.body.size(), PageOf(file, {0, 0, dictionary ? 1U : 0U}).body.size());
    }
  }
}

TEST(SpliceHeader, HeadersThatLie_AreWrittenAnew) {
  // Arrow below 3.0: V2 pages are compressed, whatever their headers say.
  FileChoice choice;
  choice.v2 = true;
  choice.dictionary = false;
  choice.page_rows = 1 << 20;
  choice.created_by = "parquet-cpp-arrow version 2.0.0";
  const TablePtr table = SeededTable({"int64"}, 30000, 0, 4, 0.1);
  const Bytes good = WriteFile(table, choice);
  // `stored` keeps the bytes as they are under another flag.
  const EditedPage old = PageOf(good, {0, 0, 0});
  const parquet::ColumnMetaData meta = *FooterOf(good).row_groups[0].columns[0].meta;
  const Bytes file = WithPage(good, {0, 0, 0}, [&](EditedPage& page) {
    const auto end = good.begin() + meta.data_page_offset + meta.total_compressed_size;
    page.stored = Bytes(end - page.header.compressed_size, end);
    page.header.is_compressed = false;
  });
  const Spliced spliced = MustSplice({InputOf("a", file), InputOf("b", file)});
  EXPECT_EQ(DifferenceOf({table, table}, spliced.file), "");
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kHeader), 2);
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kRowGroup), 0);
  const EditedPage page = PageOf(spliced.file, {0, 0, 0});
  EXPECT_TRUE(page.header.is_compressed);
  EXPECT_EQ(page.body, old.body);
}

TEST(SpliceHeader, StatisticsThatBecomeTrusted_LeaveTheHeaders) {
  FileChoice choice;
  choice.dictionary = false;
  choice.page_rows = 1 << 20;
  choice.page_index = false;  // Arrow then writes statistics into page headers
  choice.created_by = "parquet-mr version 1.7.0 (build 0)";
  const TablePtr table = SeededTable({"string"}, 30000, 0, 4, 0.1);
  const Bytes file = WriteFile(table, choice);
  ASSERT_TRUE(PageOf(file, {0, 0, 0}).header.statistics);
  const Spliced spliced = MustSplice({InputOf("a", file), InputOf("b", file)});
  EXPECT_EQ(DifferenceOf({table, table}, spliced.file), "");
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kHeader), 2);
  EXPECT_FALSE(PageOf(spliced.file, {0, 0, 0}).header.statistics);
  EXPECT_FALSE(FooterOf(spliced.file).row_groups[0].columns[0].meta->statistics->min_value);
}

}  // namespace
}  // namespace firn::splice::testing
