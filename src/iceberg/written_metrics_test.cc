// SPDX-License-Identifier: Apache-2.0
// Metrics of a merged file whose footer is there.
#include "iceberg/written_metrics.h"

#include <gtest/gtest.h>

#include "iceberg/literal.h"
#include "iceberg/metric_files_test.h"
#include "iceberg/metrics.h"
#include "iceberg/parquet_schema.h"

namespace firn::iceberg {
namespace {

Bytes Double(double value) {
  Type type;
  type.kind = TypeKind::kDouble;
  return EncodeBound(type, value);
}

Bytes Text(std::string_view text) { return {text.begin(), text.end()}; }

DataFile TextFile(std::string_view low, std::string_view high) {
  DataFile file = FileOf(2);
  file.lower_bounds = {{1, Text(low)}};
  file.upper_bounds = {{1, Text(high)}};
  return file;
}

using Counts = ByField<std::int64_t>;
using Bounds = ByField<Bytes>;

/// A file of one column, with the statistics of each row group.
parquet::FileMetaData WrittenWith(const std::vector<std::pair<std::int64_t, parquet::Statistics>>& groups) {
  parquet::FileMetaData file;
  for (const auto& [rows, statistics] : groups) {
    parquet::RowGroup& group = file.row_groups.emplace_back();
    group.num_rows = rows;
    group.columns.resize(1);
    group.columns[0].meta = parquet::ColumnMetaData();
    group.columns[0].meta->num_values = rows;
    group.columns[0].meta->statistics = statistics;
  }
  return file;
}

parquet::Statistics Stated(std::int64_t nulls, std::optional<Bytes> low, std::optional<Bytes> high,
                           std::optional<bool> is_exact = true) {
  parquet::Statistics statistics;
  statistics.null_count = nulls;
  statistics.min_value = std::move(low);
  statistics.max_value = std::move(high);
  if (statistics.min_value) statistics.is_min_value_exact = statistics.is_max_value_exact = is_exact;
  return statistics;
}

/// `mode` of all columns.
DataFile MergeWritten(const std::string& type, const std::vector<DataFile>& files, const parquet::FileMetaData* written,
                      std::int64_t deleted_rows = 0, const std::string& mode = "truncate(16)") {
  const Schema schema = SchemaOf(F(1, "a", type));
  const auto output = ToParquetSchema(schema).value();
  const auto config = MetricsConfig::Make({{"write.metadata.metrics.default", mode}}, schema, {});
  MetricsMerger merger(schema, output, config);
  for (const DataFile& file : files) merger.Add({&file, nullptr, deleted_rows});
  DataFile merged;
  merger.Store(std::vector<std::int64_t>{100}, merged, written);
  return merged;
}

TEST(MergeMetrics, TheWrittenFile_KnowsBetterThanEntries) {
  DataFile wrong = IntFile(30, 0, 40, 90), none;
  wrong.null_value_counts = {{1, 29}};
  none.record_count = 55;
  const auto written = WrittenWith(
      {{60, Stated(3, Int(2), Int(200))}, {5, Stated(5, {}, {})}, {20, Stated(0, Int(1), Int(9), std::nullopt)}});
  for (const std::int64_t deleted : {0, 15}) {
    const DataFile merged = MergeWritten("int", {wrong, none}, &written, deleted);
    EXPECT_EQ(merged.value_counts, (Counts{{1, 85}}));
    EXPECT_EQ(merged.null_value_counts, (Counts{{1, 8}}));
    EXPECT_EQ(merged.lower_bounds, (Bounds{{1, Int(1)}}));
    EXPECT_EQ(merged.upper_bounds, (Bounds{{1, Int(200)}}));
  }
  EXPECT_TRUE(MergeWritten("int", {wrong, none}, &written, 0, "counts").lower_bounds.empty());
  EXPECT_TRUE(MergeWritten("int", {wrong, none}, &written, 0, "none").value_counts.empty());
}

TEST(MergeMetrics, WhatTheWrittenFileLacks_ComesFromEntries) {
  parquet::Statistics bare;
  const auto written = WrittenWith({{20, Stated(1, Int(2), Int(7))}, {10, bare}});
  const DataFile merged = MergeWritten("int", {IntFile(20, 1, 2, 7), IntFile(10, 4, -3, 5)}, &written);
  EXPECT_EQ(merged.value_counts, (Counts{{1, 30}}));
  EXPECT_EQ(merged.null_value_counts, (Counts{{1, 5}}));
  EXPECT_EQ(merged.lower_bounds, (Bounds{{1, Int(-3)}}));
  bare.null_count = 11;  // of 10 values
  const auto impossible = WrittenWith({{20, Stated(1, Int(2), Int(7))}, {10, bare}});
  EXPECT_EQ(MergeWritten("int", {IntFile(30, 2, 1, 9)}, &impossible).null_value_counts, (Counts{{1, 2}}));
}

TEST(MergeMetrics, NanCounts_FitTheWrittenFile) {
  DataFile file = FileOf(10, 0);
  file.nan_value_counts = {{1, 10}};
  const auto written = WrittenWith({{10, Stated(1, Double(1.5), Double(2.5))}});
  EXPECT_TRUE(MergeWritten("double", {file}, &written).nan_value_counts.empty());
  file.nan_value_counts = {{1, 9}};  // then nothing would be between the bounds
  EXPECT_TRUE(MergeWritten("double", {file}, &written).nan_value_counts.empty());
  file.nan_value_counts = {{1, 8}};
  EXPECT_EQ(MergeWritten("double", {file}, &written).nan_value_counts, (Counts{{1, 8}}));
  auto counted = written;
  counted.row_groups[0].columns[0].meta->statistics->nan_count = 3;
  EXPECT_EQ(MergeWritten("double", {file}, &counted).nan_value_counts, (Counts{{1, 3}}));
}

TEST(MergeMetrics, DeletedRows_BoundsThatAreNotExactAreLeftOut) {
  const DataFile file = IntFile(100, 0, -5, 300);
  auto written = WrittenWith({{60, Stated(0, Int(2), Int(200))}, {20, Stated(0, Int(1), Int(9))}});
  written.row_groups[1].columns[0].meta->statistics->is_max_value_exact = false;  // below the other's value
  EXPECT_EQ(MergeWritten("int", {file}, &written, 20).upper_bounds, (Bounds{{1, Int(200)}}));
  written.row_groups[0].columns[0].meta->statistics->is_max_value_exact = false;
  const DataFile merged = MergeWritten("int", {file}, &written, 20);
  EXPECT_EQ(merged.lower_bounds, (Bounds{{1, Int(1)}}));
  EXPECT_TRUE(merged.upper_bounds.empty());
  EXPECT_EQ(merged.null_value_counts, (Counts{{1, 0}}));
  EXPECT_TRUE(MergeWritten("int", {file}, nullptr, 20).lower_bounds.empty());
  written.row_groups[0].columns[0].meta->statistics.reset();
  EXPECT_TRUE(MergeWritten("int", {file}, &written, 20).lower_bounds.empty());
}

TEST(MergeMetrics, TextsThatAreCut_MayHaveBoundsThatAreNotExact) {
  const DataFile file = TextFile("a", "z");
  const auto unknown = WrittenWith({{2, Stated(0, Text("b"), Text("y"), std::nullopt)}});
  const auto cut = WrittenWith({{2, Stated(0, Text("b"), Text("y"), false)}});
  for (const auto* written : {&unknown, &cut}) {
    EXPECT_EQ(MergeWritten("string", {file}, written).lower_bounds, (Bounds{{1, Text("b")}}));
    EXPECT_EQ(MergeWritten("string", {file}, written).upper_bounds, (Bounds{{1, Text("y")}}));
  }
  const auto bare = WrittenWith({{2, parquet::Statistics()}});
  EXPECT_EQ(MergeWritten("string", {file}, &bare, 1).upper_bounds, (Bounds{{1, Text("z")}}));
}

TEST(MergeMetrics, TextsInFull_AreThoseOfEntriesWithinTheWrittenOnes) {
  const auto merge = [](const DataFile& file, std::optional<bool> exact, std::int64_t deleted_rows = 0) {
    const auto written = WrittenWith({{2, Stated(0, Text("bb"), Text("yy"), exact)}});
    return MergeWritten("string", {file}, &written, deleted_rows, "full");
  };
  EXPECT_EQ(merge(TextFile("bbb", "yx"), std::nullopt).lower_bounds, (Bounds{{1, Text("bbb")}}));
  EXPECT_EQ(merge(TextFile("bbb", "yx"), std::nullopt).upper_bounds, (Bounds{{1, Text("yx")}}));
  EXPECT_EQ(merge(TextFile("a", "z"), std::nullopt).lower_bounds, (Bounds{{1, Text("bb")}}));
  EXPECT_EQ(merge(TextFile("a", "z"), std::nullopt).upper_bounds, (Bounds{{1, Text("yy")}}));
  EXPECT_EQ(merge(TextFile("z", "zz"), std::nullopt).lower_bounds, (Bounds{{1, Text("bb")}}));
  EXPECT_TRUE(merge(TextFile("a", "z"), false).lower_bounds.empty());
  EXPECT_EQ(merge(TextFile("a", "z"), true).upper_bounds, (Bounds{{1, Text("yy")}}));
  EXPECT_TRUE(merge(TextFile("bbb", "yx"), std::nullopt, 1).lower_bounds.empty());
}

TEST(MergeMetrics, OnlyNullsAreWritten_NoBounds) {
  const DataFile file = IntFile(100, 0, -5, 300);
  const auto written = WrittenWith({{10, Stated(10, {}, {})}});
  for (const std::int64_t deleted : {0, 90}) {
    EXPECT_TRUE(MergeWritten("int", {file}, &written, deleted).lower_bounds.empty());
  }
}

TEST(MergeMetrics, NestedCounts_AreThoseOfTheWrittenLeaf) {
  const std::string fields = F(10, "l", R"({"type":"list","element-id":1,"element-required":false,"element":"int"})");
  const Schema schema = SchemaOf(fields);
  const auto output = ToParquetSchema(schema).value();
  const MetricsConfig config;
  const DataFile file = FileOf(5, 2);
  auto written = WrittenWith({{5, Stated(4, Int(1), Int(2))}});
  written.row_groups[0].columns[0].meta->num_values = 9;
  MetricsMerger merger(schema, output, config);
  merger.Add({&file, nullptr, 0});
  DataFile merged;
  merger.Store(std::vector<std::int64_t>{100}, merged, &written);
  EXPECT_EQ(merged.value_counts, (Counts{{1, 9}}));
  EXPECT_EQ(merged.null_value_counts, (Counts{{1, 4}}));
  EXPECT_TRUE(merged.lower_bounds.empty());
}

}  // namespace
}  // namespace firn::iceberg
