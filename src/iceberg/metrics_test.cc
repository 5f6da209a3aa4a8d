// SPDX-License-Identifier: Apache-2.0
#include "iceberg/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "iceberg/literal.h"
#include "iceberg/metric_files_test.h"
#include "iceberg/parquet_schema.h"

namespace firn::iceberg {
namespace {

using splice::ColumnSource;

DataFile Merge(const std::string& fields, const std::vector<DataFile>& files,
               const std::vector<std::vector<ColumnSource>>& columns = {}, const MetricsConfig& config = {}) {
  const Schema schema = SchemaOf(fields);
  const auto output = ToParquetSchema(schema).value();
  MetricsMerger merger(schema, output, config);
  for (std::size_t i = 0; i < files.size(); ++i) merger.Add({&files[i], i < columns.size() ? &columns[i] : nullptr});
  DataFile merged;
  merged.distinct_counts = {{1, 5}};
  merger.Store(std::vector<std::int64_t>{100, 200, 300, 400}, merged);
  return merged;
}

ColumnSource Constant(std::optional<Bytes> value = std::nullopt) {
  ColumnSource source;
  source.kind = ColumnSource::Kind::kConstant;
  source.constant = std::move(value);
  return source;
}

using Counts = ByField<std::int64_t>;
using Bounds = ByField<Bytes>;

TEST(MetricsMerger, CountsAreSummedAndBoundsSpanAll) {
  const DataFile merged = Merge(F(1, "a", "int"), {IntFile(10, 1, -5, 7), IntFile(20, 0, 3, 300)});
  EXPECT_EQ(merged.value_counts, (Counts{{1, 30}}));
  EXPECT_EQ(merged.null_value_counts, (Counts{{1, 1}}));
  EXPECT_EQ(merged.lower_bounds, (Bounds{{1, Int(-5)}}));
  EXPECT_EQ(merged.upper_bounds, (Bounds{{1, Int(300)}}));
  EXPECT_EQ(merged.column_sizes, (Counts{{1, 100}}));
  EXPECT_TRUE(merged.nan_value_counts.empty());
  EXPECT_TRUE(merged.distinct_counts.empty());
}

TEST(MetricsMerger, AllNullInputs_DoNotTakePartInBounds) {
  const DataFile merged = Merge(F(1, "a", "int"), {FileOf(4, 4), IntFile(2, 0, 1, 2), FileOf(0)});
  EXPECT_EQ(merged.null_value_counts, (Counts{{1, 4}}));
  EXPECT_EQ(merged.lower_bounds, (Bounds{{1, Int(1)}}));
  const DataFile nulls = Merge(F(1, "a", "int"), {FileOf(4, 4), FileOf(3, 3)});
  EXPECT_TRUE(nulls.lower_bounds.empty());
  EXPECT_EQ(nulls.value_counts, (Counts{{1, 7}}));
}

TEST(MetricsMerger, WhatOneInputLacks_IsLeftOut) {
  DataFile without_bounds = FileOf(4, 1), without_nulls = IntFile(4, 0, 1, 2), without_upper = IntFile(4, 0, 0, 9);
  without_nulls.null_value_counts.clear();
  without_upper.upper_bounds.clear();
  const DataFile full = IntFile(2, 0, 1, 2);
  EXPECT_TRUE(Merge(F(1, "a", "int"), {full, without_bounds}).lower_bounds.empty());
  EXPECT_TRUE(Merge(F(1, "a", "int"), {full, without_nulls}).null_value_counts.empty());
  EXPECT_EQ(Merge(F(1, "a", "int"), {full, without_nulls}).value_counts, (Counts{{1, 6}}));
  const DataFile half = Merge(F(1, "a", "int"), {full, without_upper});
  EXPECT_EQ(half.lower_bounds, (Bounds{{1, Int(0)}}));
  EXPECT_TRUE(half.upper_bounds.empty());
  DataFile none;
  none.record_count = 3;
  EXPECT_TRUE(Merge(F(1, "a", "int"), {full, none}).value_counts.empty());
}

TEST(MetricsMerger, CountsThatCannotAllBeTrue_SayNothing) {
  const DataFile full = IntFile(30, 1, 1, 2);
  DataFile too_many_nulls = IntFile(30, 0, 5, 9), other_values = IntFile(30, 0, 5, 9), negative = IntFile(30, 0, 5, 9);
  too_many_nulls.null_value_counts = {{1, 31}};
  other_values.value_counts = {{1, 240}};
  negative.null_value_counts = {{1, -1}};
  for (const DataFile& wrong : {too_many_nulls, other_values, negative}) {
    const DataFile merged = Merge(F(1, "a", "int"), {full, wrong});
    EXPECT_TRUE(merged.null_value_counts.empty());
    EXPECT_EQ(merged.lower_bounds, (Bounds{{1, Int(1)}}));
    EXPECT_EQ(merged.upper_bounds, (Bounds{{1, Int(9)}}));
  }
  EXPECT_TRUE(Merge(F(1, "a", "int"), {full, too_many_nulls}).value_counts.empty());
  DataFile nans = FileOf(30, 20);
  nans.nan_value_counts = {{1, 11}};
  EXPECT_TRUE(Merge(F(1, "a", "float"), {nans}).nan_value_counts.empty());
  nans.nan_value_counts = {{1, 10}};
  EXPECT_EQ(Merge(F(1, "a", "float"), {nans}).nan_value_counts, (Counts{{1, 10}}));
  // All null, it says, and more: that does not leave its values out of the bounds.
  DataFile unbounded = FileOf(30, 40);
  unbounded.value_counts = {{1, 40}};
  EXPECT_TRUE(Merge(F(1, "a", "int"), {full, unbounded}).lower_bounds.empty());
}

TEST(MetricsMerger, BoundsTheWrongWayRound_AreNone) {
  const DataFile merged = Merge(F(1, "a", "int"), {IntFile(30, 0, 1, 2), IntFile(30, 0, 9, -5)});
  EXPECT_TRUE(merged.lower_bounds.empty());
  EXPECT_TRUE(merged.upper_bounds.empty());
}

TEST(MetricsMerger, ColumnsAddedLater_CountAsWhatWasWritten) {
  const std::vector<DataFile> files = {IntFile(10, 1, 5, 7), FileOf(3)};
  const DataFile nulls = Merge(F(1, "a", "int"), files, {{ColumnSource{}}, {Constant()}});
  EXPECT_EQ(nulls.value_counts, (Counts{{1, 13}}));
  EXPECT_EQ(nulls.null_value_counts, (Counts{{1, 4}}));
  EXPECT_EQ(nulls.lower_bounds, (Bounds{{1, Int(5)}}));
  const DataFile constant = Merge(F(1, "a", "int"), files, {{ColumnSource{}}, {Constant(Int(-1))}});
  EXPECT_EQ(constant.null_value_counts, (Counts{{1, 1}}));
  EXPECT_EQ(constant.lower_bounds, (Bounds{{1, Int(-1)}}));
  EXPECT_EQ(constant.upper_bounds, (Bounds{{1, Int(7)}}));
  Type decimal;
  decimal.kind = TypeKind::kDecimal;
  decimal.precision = 9;
  DataFile file = FileOf(1);
  file.lower_bounds = file.upper_bounds = {{1, EncodeBound(decimal, Decimal{-300})}};
  const DataFile decimals = Merge(F(1, "a", "decimal(9,0)"), {file, FileOf(3)}, {{ColumnSource{}}, {Constant(Int(5))}});
  EXPECT_EQ(decimals.upper_bounds, (Bounds{{1, Bytes{5}}}));
  EXPECT_EQ(decimals.lower_bounds, (Bounds{{1, EncodeBound(decimal, Decimal{-300})}}));
}

TEST(MetricsMerger, PromotedBounds_AreInTheCurrentType) {
  const DataFile merged = Merge(F(1, "a", "long"), {IntFile(2, 0, -1, 2)});
  EXPECT_EQ(merged.lower_bounds, (Bounds{{1, Bytes(8, 0xff)}}));
  EXPECT_EQ(merged.upper_bounds, (Bounds{{1, Bytes{2, 0, 0, 0, 0, 0, 0, 0}}}));
}

Bytes Double(double value) {
  Type type;
  type.kind = TypeKind::kDouble;
  return EncodeBound(type, value);
}

TEST(MetricsMerger, NanAndSignedZero_AreTreatedAsTheSpecSays) {
  DataFile only_nan = FileOf(3, 1), zeros = FileOf(2), nan_bound = FileOf(1);
  only_nan.nan_value_counts = {{1, 2}};
  zeros.nan_value_counts = {{1, 0}};
  zeros.lower_bounds = {{1, Double(-0.0)}};
  zeros.upper_bounds = {{1, Double(0.0)}};
  nan_bound.nan_value_counts = {{1, 0}};
  nan_bound.lower_bounds = nan_bound.upper_bounds = {{1, Double(std::numeric_limits<double>::quiet_NaN())}};
  const DataFile merged = Merge(F(1, "a", "double"), {only_nan, zeros});
  EXPECT_EQ(merged.nan_value_counts, (Counts{{1, 2}}));
  EXPECT_EQ(merged.lower_bounds, (Bounds{{1, Double(-0.0)}}));
  EXPECT_EQ(merged.upper_bounds, (Bounds{{1, Double(0.0)}}));
  EXPECT_TRUE(Merge(F(1, "a", "double"), {zeros, nan_bound}).lower_bounds.empty());
  const Bytes nan = Double(std::numeric_limits<double>::quiet_NaN());
  const DataFile constant = Merge(F(1, "a", "double"), {zeros, FileOf(4)}, {{ColumnSource{}}, {Constant(nan)}});
  EXPECT_EQ(constant.nan_value_counts, (Counts{{1, 4}}));
  EXPECT_EQ(constant.upper_bounds, (Bounds{{1, Double(0.0)}}));
}

Bytes Text(std::string_view text) { return {text.begin(), text.end()}; }

DataFile TextFile(std::string_view low, std::string_view high) {
  DataFile file = FileOf(2);
  file.lower_bounds = {{1, Text(low)}};
  file.upper_bounds = {{1, Text(high)}};
  return file;
}

TEST(MetricsMerger, Modes_OnlyTakeAway) {
  const std::vector<DataFile> files = {TextFile("abcdef", "abczzz"), TextFile("\x7f", "\xc3\xa4")};
  const auto merge = [&](const char* mode) {
    const Schema schema = SchemaOf(F(1, "s", "string"));
    const auto config = MetricsConfig::Make({{"write.metadata.metrics.column.s", mode}}, schema, {});
    return Merge(F(1, "s", "string"), files, {}, config);
  };
  EXPECT_EQ(merge("full").lower_bounds, (Bounds{{1, Text("abcdef")}}));
  EXPECT_EQ(merge("full").upper_bounds, (Bounds{{1, Text("\xc3\xa4")}}));
  EXPECT_EQ(merge("truncate(3)").lower_bounds, (Bounds{{1, Text("abc")}}));
  EXPECT_TRUE(merge("counts").lower_bounds.empty());
  EXPECT_EQ(merge("counts").value_counts, (Counts{{1, 4}}));
  EXPECT_TRUE(merge("none").value_counts.empty());
  EXPECT_EQ(merge("none").column_sizes, (Counts{{1, 100}}));
  const DataFile upper = Merge(
      F(1, "s", "string"), {TextFile("a", "abcdef")}, {},
      MetricsConfig::Make({{"write.metadata.metrics.default", "truncate(2)"}}, SchemaOf(F(1, "s", "string")), {}));
  EXPECT_EQ(upper.upper_bounds, (Bounds{{1, Text("ac")}}));
}

TEST(MetricsMerger, NestedColumns_HaveCountsButNoBoundsInListsAndMaps) {
  const std::string fields =
      F(10, "l", R"({"type":"list","element-id":1,"element-required":false,"element":"int"})") + "," +
      F(11, "s", R"({"type":"struct","fields":[)" + F(2, "x", "int") + "," + F(3, "y", "int") + "]}");
  DataFile file = IntFile(7, 2, 1, 2);
  file.record_count = 5;
  for (const FieldId id : {2, 3}) {
    file.value_counts.emplace_back(id, 5);
    file.null_value_counts.emplace_back(id, 0);
    file.lower_bounds.emplace_back(id, Int(4));
    file.upper_bounds.emplace_back(id, Int(6));
  }
  const DataFile merged = Merge(fields, {file, file});
  EXPECT_EQ(merged.value_counts, (Counts{{1, 14}, {2, 10}, {3, 10}}));
  EXPECT_EQ(merged.lower_bounds, (Bounds{{2, Int(4)}, {3, Int(4)}}));
  EXPECT_EQ(merged.column_sizes, (Counts{{1, 100}, {2, 200}, {3, 300}}));
  // y was added to s: how many of its constants are there depends on how often s is null.
  const DataFile added = Merge(fields, {file}, {{ColumnSource{}, ColumnSource{}, Constant(Int(9))}});
  EXPECT_EQ(added.value_counts, (Counts{{1, 7}, {2, 5}, {3, 5}}));
  EXPECT_EQ(added.null_value_counts, (Counts{{1, 2}, {2, 0}}));
  EXPECT_EQ(added.upper_bounds, (Bounds{{2, Int(6)}, {3, Int(9)}}));
  // The list is new: nobody counted its missing elements.
  const DataFile list = Merge(fields, {file, file}, {{Constant(), ColumnSource{}, ColumnSource{}}});
  EXPECT_EQ(list.value_counts, (Counts{{2, 10}, {3, 10}}));
}

TEST(MetricsMerger, VariantsAndGeometries_HaveCountsOnly) {
  DataFile file = IntFile(4, 1, 1, 2);
  EXPECT_EQ(Merge(F(1, "v", "variant"), {file}).null_value_counts, (Counts{{1, 1}}));
  EXPECT_TRUE(Merge(F(1, "v", "variant"), {file}).lower_bounds.empty());
  EXPECT_TRUE(Merge(F(1, "v", "variant"), {file}).column_sizes.empty());
  EXPECT_TRUE(Merge(F(1, "g", "geometry"), {file}).upper_bounds.empty());
  EXPECT_EQ(Merge(F(1, "g", "geometry"), {file}).value_counts, (Counts{{1, 4}}));
}

TEST(MetricsMerger, BoundsThatDoNotDecode_CountAsMissing) {
  DataFile broken = IntFile(1, 0, 1, 1);
  broken.lower_bounds = {{1, Bytes{1}}};
  const DataFile merged = Merge(F(1, "a", "int"), {IntFile(1, 0, 1, 1), broken});
  EXPECT_TRUE(merged.lower_bounds.empty());
  EXPECT_EQ(merged.upper_bounds, (Bounds{{1, Int(1)}}));
}

TEST(MetricsMerger, DroppedColumns_AreNotCarried) {
  DataFile file = IntFile(1, 0, 1, 1);
  file.value_counts.emplace_back(99, 1);
  EXPECT_EQ(Merge(F(1, "a", "int"), {file}).value_counts, (Counts{{1, 1}}));
}

using Kind = MetricsMode::Kind;

TEST(MetricsMode, Texts_AreParsedAsJavaDoes) {
  EXPECT_EQ(ParseMetricsMode("NONE")->kind, Kind::kNone);
  EXPECT_EQ(ParseMetricsMode("counts")->kind, Kind::kCounts);
  EXPECT_EQ(ParseMetricsMode("Full")->kind, Kind::kFull);
  EXPECT_EQ(ParseMetricsMode("truncate(4)")->length, 4);
  for (const char* text :
       {"", "truncate", "truncate()", "truncate(0)", "truncate(-1)", "truncate(x)", "truncate(99999999999)", "some"}) {
    EXPECT_FALSE(ParseMetricsMode(text)) << text;
  }
}

TEST(MetricsConfig, InferredDefaults_GoToTheFirstColumns) {
  const Schema schema = SchemaOf(F(1, "s",
                                   R"({"type":"struct","fields":[)" + F(2, "x", "int") + "," +
                                       F(3, "t", R"({"type":"struct","fields":[)" + F(4, "y", "int") + "]}") + "]}") +
                                 "," + F(5, "a", "int") + "," + F(6, "b", "int"));
  const auto kinds = [&](const std::map<std::string, std::string, std::less<>>& properties,
                         const SortOrder& order = {}) {
    const MetricsConfig config = MetricsConfig::Make(properties, schema, order);
    std::string text;
    for (const FieldId id : {2, 4, 5, 6}) text += "nctf"[static_cast<int>(config.ModeOf(id).kind)];
    return text;
  };
  const std::string limit = "write.metadata.metrics.max-inferred-column-defaults",
                    fallback = "write.metadata.metrics.default";
  EXPECT_EQ(kinds({}), "tttt");
  EXPECT_EQ(kinds({{limit, "6"}}), "tttt");
  EXPECT_EQ(kinds({{limit, "2"}}), "nntt");
  EXPECT_EQ(kinds({{limit, "3"}}), "tntt");
  EXPECT_EQ(kinds({{limit, "0"}}), "nnnn");
  EXPECT_EQ(kinds({{limit, "-1"}}), "tttt");
  EXPECT_EQ(kinds({{limit, "0"}, {fallback, "full"}}), "ffff");
  EXPECT_EQ(kinds({{fallback, "counts"}, {"write.metadata.metrics.column.s.t.y", "full"}}), "cfcc");
  EXPECT_EQ(kinds({{fallback, "counts"}, {"write.metadata.metrics.column.a", "bad"}}), "cccc");
  SortOrder order;
  order.fields.push_back({6, ParseTransform("day"), true, true});
  order.fields.push_back({5, ParseTransform("bucket[4]"), true, true});
  EXPECT_EQ(kinds({{fallback, "none"}}, order), "nnnt");
  EXPECT_EQ(kinds({{fallback, "full"}}, order), "ffff");
  EXPECT_EQ(kinds({{fallback, "none"}, {"write.metadata.metrics.column.b", "counts"}}, order), "nnnc");
}

}  // namespace
}  // namespace firn::iceberg
