// SPDX-License-Identifier: Apache-2.0
// Statistics and page indexes of the output: right, or absent.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "splice/arrow_tables_test.h"
#include "splice/value_order.h"

namespace firn::splice::testing {
namespace {

template <class T>
Bytes Plain(T value) {
  Bytes bytes(sizeof value);
  StoreLittle(bytes.data(), value);
  return bytes;
}

Bytes Text(std::string_view text) { return {text.begin(), text.end()}; }

parquet::Statistics StatisticsOf(const std::vector<TablePtr>& tables, const std::vector<FileChoice>& choices) {
  std::vector<Input> inputs;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables[i], choices[i % choices.size()])));
  }
  const Result<Spliced> spliced = SpliceFiles(inputs);
  EXPECT_TRUE(spliced) << ToString(spliced.error());
  if (!spliced) return {};
  EXPECT_EQ(DifferenceOf(tables, spliced->file), "");
  const parquet::FileMetaData footer = FooterOf(spliced->file);
  return footer.row_groups[0].columns[0].meta->statistics.value_or(parquet::Statistics());
}

TablePtr Column(const std::string& type, const std::string& json) { return JsonTable({{"a", type, json}}); }

TEST(SpliceStatistics, Integers_AreMergedInTheirOrder) {
  const parquet::Statistics signed_numbers =
      StatisticsOf({Column("int32", "[5, -7, null]"), Column("int32", "[100, null, null]")}, {{}});
  EXPECT_EQ(signed_numbers.min_value, Plain<std::int32_t>(-7));
  EXPECT_EQ(signed_numbers.max_value, Plain<std::int32_t>(100));
  EXPECT_EQ(signed_numbers.null_count, 3);
  EXPECT_EQ(signed_numbers.distinct_count, std::nullopt);
  const parquet::Statistics unsigned_numbers =
      StatisticsOf({Column("uint32", "[5, 4000000000]"), Column("uint32", "[1]")}, {{}});
  EXPECT_EQ(unsigned_numbers.min_value, Plain<std::uint32_t>(1));
  EXPECT_EQ(unsigned_numbers.max_value, Plain<std::uint32_t>(4000000000U));
}

TEST(SpliceStatistics, TextAndDecimals_AreMergedInTheirOrder) {
  const parquet::Statistics text =
      StatisticsOf({Column("string", "[\"b\", \"\u00e9\"]"), Column("string", "[\"a\"]")}, {{}});
  EXPECT_EQ(text.min_value, Text("a"));
  EXPECT_EQ(text.max_value, Text("\u00e9"));
  const parquet::Statistics decimals =
      StatisticsOf({Column("decimal38", "[\"-1.0000000000\"]"), Column("decimal38", "[\"2.0000000000\"]")}, {{}});
  EXPECT_EQ((*decimals.min_value)[0], 0xff);
  EXPECT_EQ((*decimals.max_value)[0], 0x00);
}

TEST(SpliceStatistics, InputsOfNulls_TakeNoPart) {
  const parquet::Statistics some = StatisticsOf(
      {Column("string", "[null, null]"), Column("string", "[\"x\", null]"), Column("string", "[null]")}, {{}});
  EXPECT_EQ(some.min_value, Text("x"));
  EXPECT_EQ(some.max_value, Text("x"));
  EXPECT_EQ(some.null_count, 4);
  const parquet::Statistics none = StatisticsOf({Column("int64", "[null]"), Column("int64", "[null, null]")}, {{}});
  EXPECT_EQ(none.min_value, std::nullopt);
  EXPECT_EQ(none.null_count, 3);
}

TEST(SpliceStatistics, OneInputWithout_LeavesNone) {
  FileChoice without;
  without.statistics = false;
  without.page_index = false;
  const parquet::Statistics statistics =
      StatisticsOf({Column("int32", "[1, 2, null]"), Column("int32", "[3, null]")}, {FileChoice(), without});
  EXPECT_EQ(statistics.min_value, std::nullopt);
  EXPECT_EQ(statistics.max_value, std::nullopt);
  EXPECT_EQ(statistics.null_count, 2);  // counted while joining
}

TEST(SpliceStatistics, Zeros_HaveTheSignOfTheirSide) {
  const parquet::Statistics statistics =
      StatisticsOf({Column("double", "[0.0, -1.0]"), Column("double", "[-0.0]")}, {{}});
  EXPECT_EQ(statistics.min_value, Plain(-1.0));
  EXPECT_EQ(statistics.max_value, Plain(0.0));
  const parquet::Statistics positive = StatisticsOf({Column("float", "[0.0]"), Column("float", "[2.0]")}, {{}});
  EXPECT_EQ(positive.min_value, Plain(-0.0F));
}

TEST(SpliceStatistics, OldWriters_AreNotTrusted) {
  FileChoice old;
  old.created_by = "parquet-mr version 1.6.0 (build abc)";
  const parquet::Statistics text =
      StatisticsOf({Column("string", "[\"a\"]"), Column("string", "[\"b\"]")}, {FileChoice(), old});
  EXPECT_EQ(text.min_value, std::nullopt);
  const parquet::Statistics numbers =
      StatisticsOf({Column("int32", "[1]"), Column("int32", "[2]")}, {FileChoice(), old});
  EXPECT_EQ(numbers.max_value, Plain<std::int32_t>(2));
}

TEST(SpliceStatistics, ColumnIndex_BoundsAndNullsOfEachPage) {
  Random random(1);
  TableChoice choice;
  choice.types = FlatTypeNames();
  choice.rows = 4000;
  choice.distinct = 0;
  std::vector<Input> inputs;
  std::vector<TablePtr> tables;
  for (int i = 0; i < 4; ++i) {
    choice.first_value = i * 4000;
    tables.push_back(RandomTable(choice, random));
    FileChoice file;
    file.page_rows = 500;
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(tables.back(), file)));
  }
  Options options;
  options.page_size_bytes = 8192;
  const Result<Spliced> spliced = SpliceFiles(inputs, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  EXPECT_EQ(DifferenceOf(tables, spliced->file), "");
  const parquet::FileMetaData footer = FooterOf(spliced->file);
  for (std::size_t leaf = 0; leaf < choice.types.size(); ++leaf) {
    const auto index = ColumnIndexOf(spliced->file, 0, leaf);
    ASSERT_TRUE(index) << choice.types[leaf];
    const parquet::Statistics& chunk = *footer.row_groups[0].columns[leaf].meta->statistics;
    const ValueOrder order = OrderOf(footer.schema[leaf + 1]);
    std::int64_t nulls = 0;
    for (std::size_t page = 0; page < index->null_pages.size(); ++page) {
      nulls += index->null_counts[page];
      EXPECT_FALSE(index->null_pages[page]);
      EXPECT_LE(CompareValues(order, *chunk.min_value, index->min_values[page]), 0) << choice.types[leaf];
      EXPECT_GE(CompareValues(order, *chunk.max_value, index->max_values[page]), 0) << choice.types[leaf];
    }
    EXPECT_EQ(nulls, chunk.null_count) << choice.types[leaf];
  }
}

TEST(SpliceStatistics, SortedInputs_HaveAscendingPages) {
  std::vector<Input> inputs;
  Random random(2);
  for (int i = 0; i < 3; ++i) {
    TableChoice choice;
    choice.types = {"uint64", "string"};
    choice.rows = 3000;
    choice.distinct = 0;
    choice.first_value = i * 3000;
    choice.null_share = 0;
    FileChoice file;
    file.page_rows = 500;
    inputs.push_back(InputOf("file" + std::to_string(i), WriteFile(RandomTable(choice, random), file)));
  }
  Options options;
  options.page_size_bytes = 4096;
  const Result<Spliced> spliced = SpliceFiles(inputs, options);
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const auto index = ColumnIndexOf(spliced->file, 0, 0);
  ASSERT_TRUE(index);
  EXPECT_GT(index->null_pages.size(), 3U);
  EXPECT_EQ(index->boundary_order, parquet::BoundaryOrder::kAscending);
  EXPECT_EQ(ColumnIndexOf(spliced->file, 0, 1)->boundary_order, parquet::BoundaryOrder::kUnordered);
}

TEST(SpliceStatistics, WithoutPageIndexes_ChunkBoundsAreUsed) {
  FileChoice file;
  file.page_index = false;
  file.page_rows = 10;
  const TablePtr table = Column("int32", "[1, 2, 3, 4, null, 6, 7, 8, 9, 10, 11, 12, null]");
  const Result<Spliced> spliced =
      SpliceFiles({InputOf("a", WriteFile(table, file)), InputOf("b", WriteFile(table, file))});
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const auto index = ColumnIndexOf(spliced->file, 0, 0);
  ASSERT_TRUE(index);
  EXPECT_EQ(index->min_values[0], Plain<std::int32_t>(1));
  EXPECT_EQ(index->max_values[0], Plain<std::int32_t>(12));
  EXPECT_EQ(index->null_counts[0], 4);
}

TEST(SpliceStatistics, NotANumber_IsNoBound) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  parquet::SchemaElement element;
  element.type = parquet::PhysicalType::kDouble;
  const ValueOrder order = OrderOf(element);
  EXPECT_FALSE(IsOrdered(order, Plain(nan), 0));
  EXPECT_TRUE(IsOrdered(order, Plain(std::numeric_limits<double>::infinity()), 0));
}

TEST(SpliceStatistics, SizeStatistics_AreSummed) {
  const TablePtr a = Column("string", "[\"abc\", null]"), b = Column("string", "[\"de\", \"f\"]");
  const Result<Spliced> spliced = SpliceFiles({InputOf("a", WriteFile(a)), InputOf("b", WriteFile(b))});
  ASSERT_TRUE(spliced) << ToString(spliced.error());
  const parquet::FileMetaData footer = FooterOf(spliced->file);
  const auto& sizes = footer.row_groups[0].columns[0].meta->size_statistics;
  ASSERT_TRUE(sizes);
  EXPECT_EQ(sizes->unencoded_byte_array_data_bytes, 6);
}

}  // namespace
}  // namespace firn::splice::testing
