// SPDX-License-Identifier: Apache-2.0
// What is read and copied of files with deleted rows, and what the output says of itself.
#include <gtest/gtest.h>

#include <algorithm>

#include "format/parquet/footer.h"
#include "splice/filter_job_test.h"

namespace firn::splice::testing {
namespace {

TEST(SpliceFilter, PagesWithoutDeletedRows_StayAsTheyAre) {
  FileChoice choice;
  choice.dictionary = false;
  choice.page_rows = 10000;
  const TablePtr table = SeededTable({"int64", "double", "string"}, 100000, 0, 1, 0);
  FilterJob job;
  job.Add(table, choice, {25000, 25001, 79999});
  const Spliced spliced = CheckJob(job);
  const parquet::FileMetaData in = FooterOf(WriteFile(table, choice)), out = FooterOf(spliced.file);
  const Bytes file = WriteFile(table, choice);
  for (std::size_t c = 0; c < 3; ++c) {
    SCOPED_TRACE(c);
    const auto before = OffsetIndexOf(file, 0, c), after = OffsetIndexOf(spliced.file, 0, c);
    ASSERT_TRUE(before && after);
    ASSERT_EQ(after->pages.size(), 10U);
    for (std::size_t p = 0; p < 10; ++p) {
      const bool same = std::equal(file.begin() + before->pages[p].offset,
                                   file.begin() + before->pages[p].offset + before->pages[p].compressed_size,
                                   spliced.file.begin() + after->pages[p].offset);
      EXPECT_EQ(same, p != 2 && p != 7) << "page " << p;
    }
    EXPECT_EQ(after->pages[3].first_row_index, 29998);
    EXPECT_EQ(after->pages[8].first_row_index, 79997);
    const parquet::Statistics& statistics = *out.row_groups[0].columns[c].meta->statistics;
    EXPECT_EQ(statistics.null_count, 0);
    EXPECT_EQ(statistics.min_value, in.row_groups[0].columns[c].meta->statistics->min_value);
  }
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kFilter), 3);
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kPages), 0);
  // Eight pages of ten.
  EXPECT_NEAR(static_cast<double>(BytesOf(spliced.report, Tier::kPages)),
              static_cast<double>(BytesOf(spliced.report, Tier::kFilter)) * 4,
              static_cast<double>(BytesOf(spliced.report, Tier::kFilter)));
}

TEST(SpliceFilter, ColumnsWithOtherPages_ArePagesOfTheirOwn) {
  // A page of the list column spans many of the others.
  FileChoice choice;
  choice.dictionary = false;
  choice.page_bytes = 100 << 10;
  choice.page_rows = 1 << 20;
  FilterJob job;
  job.Add(SeededTable({"int64", "list<string>", "fixed3"}, 60000, 0, 2), choice, RowRange(30000, 30010));
  const Spliced spliced = CheckJob(job);
  EXPECT_GT(BytesOf(spliced.report, Tier::kPages), BytesOf(spliced.report, Tier::kFilter));
}

TEST(SpliceFilter, FilesWithoutDeletedRows_KeepTheirTier) {
  FileChoice choice;
  choice.dictionary = false;
  FilterJob job;
  for (std::uint64_t i = 0; i < 4; ++i) {
    job.Add(SeededTable({"int64", "double"}, 20000, 0, i, 0), choice, i == 1 ? RowRange(5, 6) : RowRange(0, 0));
  }
  const Spliced spliced = CheckJob(job);
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kPages), 6);
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kFilter), 2);
  ExpectArrowsStatistics(job, spliced);
}

TEST(SpliceFilter, DeletedRowGroupsAndFiles_AreNotRead) {
  FileChoice choice;
  choice.row_group_rows = 500;
  choice.dictionary = false;
  const TablePtr table = SeededTable({"int64", "string"}, 2000, 0, 4);
  FilterJob job;
  job.Add(table, choice, RowRange(0, 2000));
  job.Add(table, choice, RowRange(500, 1500));
  job.Add(table, choice, RowRange(0, 2000));
  // What is not read cannot be found to be broken.
  const parquet::FileMetaData footer = FooterOf(WriteFile(table, choice));
  Bytes broken = WriteFile(table, choice);
  const auto begin = footer.row_groups[1].columns[0].meta->data_page_offset;
  const auto end = footer.row_groups[3].columns[0].meta->data_page_offset;
  std::fill(broken.begin() + begin, broken.begin() + end, std::uint8_t{0xff});
  job.inputs[1].source = std::make_shared<MemorySource>("broken", std::move(broken));
  const Spliced spliced = CheckJob(job);
  EXPECT_EQ(spliced.report.rows, 1000);
  EXPECT_EQ(spliced.report.deleted_rows, 5000);
  EXPECT_EQ(spliced.report.input_row_bases, (std::vector<std::int64_t>{0, 0, 1000}));
  EXPECT_EQ(ChunksOf(spliced.report, Tier::kFilter), 0);
}

TEST(SpliceFilter, DeletedPages_AreNotRead) {
  FileChoice choice;
  choice.page_rows = 1000;
  choice.dictionary = false;
  choice.crc = true;
  const TablePtr table = SeededTable({"int64", "list<int32>"}, 10000, 0, 5);
  FilterJob job;
  job.Add(table, choice, RowRange(2500, 6500));
  Bytes broken = WriteFile(table, choice);
  for (std::size_t c = 0; c < 2; ++c) {
    const auto pages = OffsetIndexOf(broken, 0, c)->pages;
    broken[static_cast<std::size_t>(pages[4].offset + pages[4].compressed_size - 1)] ^= 1;
  }
  job.inputs[0].source = std::make_shared<MemorySource>("broken", std::move(broken));
  CheckJob(job);
}

TEST(SpliceFilter, NoRowsLeft_IsAFileWithoutRowGroups) {
  FilterJob job;
  job.Add(SeededTable({"int64", "list<string>"}, 100, 10, 6), {}, RowRange(0, 100));
  const Spliced spliced = CheckJob(job);
  EXPECT_EQ(spliced.report.rows, 0);
  EXPECT_EQ(spliced.report.row_groups, 0);
  EXPECT_EQ(FooterOf(spliced.file).schema.size(), 5U);
}

TEST(SpliceFilter, BoundsAndNullCounts_AreThoseOfTheRemainingRows) {
  const TablePtr table = JsonTable({{"a", "int32", "[1, 2, null, 9, 5]"},
                                    {"b", "string", R"(["zz", "a", "m", null, "b"])"},
                                    {"c", "bool!", "[true, false, true, true, true]"},
                                    {"d", "double", "[1.5, 2, null, -4, 0]"},
                                    {"e", "list<int32>", "[[7], [], [1, null], null, [3]]"}});
  for (const bool dictionary : {true, false}) {
    FileChoice choice;
    choice.dictionary = dictionary;
    FilterJob job;
    job.Add(table, choice, {1, 3});
    const Spliced spliced = CheckJob(job);
    ExpectArrowsStatistics(job, spliced);
    const auto index = ColumnIndexOf(spliced.file, 0, 0);
    ASSERT_TRUE(index);
    EXPECT_EQ(index->max_values[0], (Bytes{5, 0, 0, 0}));
    EXPECT_EQ(index->null_counts[0], 1);
    EXPECT_EQ(FooterOf(spliced.file).row_groups[0].columns[0].meta->statistics->is_max_value_exact, true);
  }
}

/// A file whose bounds are those of whole chunks: joined pages have none in their headers, and the index is left out.
Bytes WithoutPageBounds(const TablePtr& table) {
  FileChoice choice;
  choice.dictionary = false;
  choice.page_rows = 500;
  Options options;
  options.page_size_bytes = 80 << 10;
  const Result<Spliced> joined = SpliceFiles({InputOf("pages", WriteFile(table, choice))}, options);
  EXPECT_TRUE(joined) << ToString(joined.error());
  parquet::FileMetaData footer = FooterOf(joined->file);
  for (parquet::ColumnChunk& chunk : footer.row_groups[0].columns) {
    chunk.column_index_offset = chunk.offset_index_offset = std::nullopt;
    chunk.column_index_length = chunk.offset_index_length = std::nullopt;
  }
  Bytes file = joined->file;
  const Bytes tail = parquet::WriteFooter(footer);
  file.insert(file.end(), tail.begin(), tail.end());
  return file;
}

TEST(SpliceFilter, PagesWithoutBoundsOfTheirOwn_HaveBoundsThatAreNotExact) {
  const TablePtr table = SeededTable({"int64"}, 40000, 0, 7, 0);
  const auto values = LongsOf(table, "c0");
  const std::int64_t greatest = std::ranges::max_element(values) - values.begin();
  FilterJob job;
  job.Add(table, {}, {greatest});
  job.inputs[0].source = std::make_shared<MemorySource>("no page bounds", WithoutPageBounds(table));
  const Spliced spliced = CheckJob(job);
  EXPECT_GT(BytesOf(spliced.report, Tier::kPages), BytesOf(spliced.report, Tier::kFilter));
  const parquet::FileMetaData out = FooterOf(spliced.file);
  const parquet::Statistics& statistics = *out.row_groups[0].columns[0].meta->statistics;
  EXPECT_EQ(statistics.null_count, 0);
  ASSERT_TRUE(statistics.max_value);
  EXPECT_EQ(LoadLittle<std::int64_t>(statistics.max_value->data()), values[static_cast<std::size_t>(greatest)]);
  EXPECT_EQ(statistics.is_max_value_exact, false);
}

TEST(SpliceFilter, ConstantsAndMissingColumns_HaveTheRemainingRows) {
  const TablePtr table = SeededTable({"int64"}, 1000, 10, 8, 0),
                 other = SeededTable({"int64", "string", "int32"}, 1000, 10, 9);
  Options options;
  options.schema = FooterOf(WriteFile(other)).schema;
  Random random(8);
  FilterJob job;
  job.Add(table, {}, SomeRows(1000, 3, random));
  job.inputs[0].columns.resize(3);
  job.inputs[0].columns[0].leaf = 0;
  job.inputs[0].columns[1].kind = job.inputs[0].columns[2].kind = ColumnSource::Kind::kConstant;
  job.inputs[0].columns[2].constant = Bytes{7, 0, 0, 0};
  const Result<Spliced> spliced = SpliceFiles(job.inputs, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const parquet::RowGroup group = FooterOf(spliced->file).row_groups[0];
  EXPECT_EQ(group.num_rows, 1000 - job.deleted);
  EXPECT_EQ(group.columns[1].meta->statistics->null_count, group.num_rows);
  EXPECT_EQ(group.columns[2].meta->statistics->null_count, 0);
}

TEST(SpliceFilter, ColumnsOfTheFallback_AreFilteredToo) {
  // int32 becomes int64, and the decoded column has to stay beside the copied one.
  const TablePtr narrow = SeededTable({"int32", "string"}, 5000, 0, 10),
                 wide = SeededTable({"int64", "string"}, 1, 0, 11);
  Options options;
  options.schema = FooterOf(WriteFile(wide)).schema;
  Random random(10);
  FileChoice choice;
  choice.page_rows = 700;
  choice.row_group_rows = 2000;
  FilterJob job;
  job.Add(narrow, choice, SomeRows(5000, 7, random));
  job.inputs[0].columns.resize(2);
  job.inputs[0].columns[0].leaf = 0;
  job.inputs[0].columns[1].leaf = 1;
  const Result<Spliced> spliced = SpliceFiles(job.inputs, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(ChunksOf(spliced->report, Tier::kDecode), 3);
  EXPECT_EQ(ChunksOf(spliced->report, Tier::kFilter), 3);
  const auto found = LongsOf(ReadFile(spliced->file), "c0");
  std::size_t at = 0;
  for (const TablePtr& slice : job.remaining) {
    for (const std::optional<std::int64_t>& value : LongsOf(Widened(slice), "c0")) ASSERT_EQ(found[at++], value);
  }
  EXPECT_EQ(at, found.size());
}

TEST(SpliceFilter, MostRowsOfManyFilesDeleted_MemoryStaysBounded) {
  // Each file is held whole until its rows are written.
  FilterJob job;
  for (std::uint64_t i = 0; i < 150; ++i) {
    FileChoice choice;
    choice.dictionary = false;
    job.Add(SeededTable({"int64", "string"}, 20000, 0, i), choice, RowRange(10, 20000));
  }
  Options options;
  options.memory_bytes = 16 << 20;
  const Spliced spliced = CheckJob(job, options);
  EXPECT_GE(spliced.report.row_groups, 2);
  EXPECT_EQ(spliced.report.rows, 1500);
}

TEST(SpliceFilter, ThreadsAndMemory_GiveTheSameBytes) {
  Random random(13);
  FilterJob job;
  for (std::uint64_t i = 0; i < 10; ++i) {
    job.Add(SeededTable({"int32", "string", "list<string>"}, 800, 60, i), {}, SomeRows(800, 20, random));
  }
  Options one, four;
  four.threads = 4;
  EXPECT_EQ(CheckJob(job, one).file, CheckJob(job, four).file);
}

TEST(SpliceFilter, WrongExpectedRows_CountDeletedOnesToo) {
  FilterJob job;
  job.Add(SeededTable({"int64"}, 100, 10, 14), {}, {1, 2});
  job.inputs[0].expected_rows = 98;
  const Result<Spliced> spliced = SpliceFiles(job.inputs);
  ASSERT_FALSE(spliced);
  EXPECT_EQ(spliced.error().code, Code::kCorrupt);
}

}  // namespace
}  // namespace firn::splice::testing
