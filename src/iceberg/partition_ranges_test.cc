// SPDX-License-Identifier: Apache-2.0
#include "iceberg/partition_ranges.h"

#include <gtest/gtest.h>

#include <limits>

#include "iceberg/manifest_fixture.h"

namespace firn::iceberg {
namespace {

TableMetadata TwoFields(const std::string& type, const std::string& transform) {
  return fixture::Table(
      2, R"({"id":1,"name":"a","required":false,"type":")" + type + R"("})",
      R"([{"spec-id":0,"fields":[{"source-id":1,"field-id":1000,"name":"p","transform":")" + transform + R"("}]}])");
}

/// The range of a manifest with one field summary.
ValueRange RangeOf(const TableMetadata& metadata, FieldSummary summary) {
  ManifestFile line;
  line.partitions = {std::move(summary)};
  return PartitionRangesOf(line, metadata).at(0);
}

FieldSummary Between(const Type& type, const Literal& lower, const Literal& upper) {
  return {false, false, EncodeBound(type, lower), EncodeBound(type, upper)};
}

TEST(PartitionRanges, Bounds_AreInclusive) {
  const ValueRange range = RangeOf(TwoFields("int", "identity"), Between({.kind = TypeKind::kInt}, 3, 5));
  EXPECT_FALSE(range.MayHold(2));
  EXPECT_TRUE(range.MayHold(3));
  EXPECT_TRUE(range.MayHold(5));
  EXPECT_FALSE(range.MayHold(6));
  EXPECT_FALSE(range.MayHold(Literal()));
  EXPECT_TRUE(range.MayHold(std::int64_t{9}));  // of another type: not known
}

TEST(PartitionRanges, PromotedColumn_OldBoundsAreRead) {
  const ValueRange range = RangeOf(TwoFields("long", "identity"), Between({.kind = TypeKind::kInt}, 3, 5));
  EXPECT_TRUE(range.MayHold(std::int64_t{4}));
  EXPECT_FALSE(range.MayHold(std::int64_t{6}));
}

TEST(PartitionRanges, NoBounds_NothingButNullsAndNan) {
  const TableMetadata ints = TwoFields("int", "identity"), doubles = TwoFields("double", "identity");
  EXPECT_FALSE(RangeOf(ints, {true, false, {}, {}}).MayHold(4));
  EXPECT_TRUE(RangeOf(ints, {true, false, {}, {}}).MayHold(Literal()));
  EXPECT_TRUE(RangeOf(ints, {false, false, {}, {}}).MayHold(4));  // tells nothing
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(RangeOf(doubles, {false, true, {}, {}}).MayHold(4.0));
  EXPECT_TRUE(RangeOf(doubles, {false, true, {}, {}}).MayHold(nan));
  EXPECT_TRUE(RangeOf(doubles, {false, {}, {}, {}}).MayHold(4.0));
  EXPECT_TRUE(RangeOf(doubles, {false, {}, {}, {}}).MayHold(nan));
}

TEST(PartitionRanges, ZerosOfBothSigns_AreInside) {
  const ValueRange range = RangeOf(TwoFields("double", "identity"), Between({.kind = TypeKind::kDouble}, 0.0, -0.0));
  EXPECT_TRUE(range.MayHold(0.0));
  EXPECT_TRUE(range.MayHold(-0.0));
  EXPECT_FALSE(range.MayHold(0.5));
  EXPECT_FALSE(range.is_one_value());
}

TEST(PartitionRanges, CutUpperBound_IsTheBeginningOfMore) {
  const Type text{.kind = TypeKind::kString};
  const ValueRange range =
      RangeOf(TwoFields("string", "identity"), Between(text, std::string("ab"), std::string("cd")));
  EXPECT_FALSE(range.MayHold(std::string("aa")));
  EXPECT_TRUE(range.MayHold(std::string("cdz")));
  EXPECT_FALSE(range.MayHold(std::string("ce")));
}

TEST(PartitionRanges, WhatCannotBe_LeavesItOpen) {
  const TableMetadata ints = TwoFields("int", "identity"), doubles = TwoFields("double", "identity");
  const Type double_type{.kind = TypeKind::kDouble};
  EXPECT_TRUE(RangeOf(ints, {false, false, Bytes(3), Bytes(3)}).MayHold(4));
  EXPECT_TRUE(RangeOf(ints, {false, false, EncodeBound({.kind = TypeKind::kInt}, 7), {}}).MayHold(4));
  EXPECT_TRUE(RangeOf(ints, Between({.kind = TypeKind::kInt}, 9, 8)).MayHold(4));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(RangeOf(doubles, Between(double_type, 1.0, nan)).MayHold(0.5));

  ManifestFile line;
  EXPECT_TRUE(MayHold(PartitionRangesOf(line, ints), {{4}}));
  line.partitions = {Between({.kind = TypeKind::kInt}, 8, 9), FieldSummary()};
  EXPECT_TRUE(MayHold(PartitionRangesOf(line, ints), {{4}}));
  line.partitions->pop_back();
  EXPECT_FALSE(MayHold(PartitionRangesOf(line, ints), {{4}}));
  line.spec_id = SpecId(9);
  EXPECT_TRUE(MayHold(PartitionRangesOf(line, ints), {{4}}));
}

TEST(PartitionRanges, UnknownAndVoidTransforms_NeverNarrow) {
  const FieldSummary nulls{true, false, {}, {}};
  EXPECT_TRUE(RangeOf(TwoFields("int", "zorder"), nulls).MayHold(std::string("x")));
  EXPECT_TRUE(RangeOf(TwoFields("int", "void"), nulls).MayHold(4));
}

}  // namespace
}  // namespace firn::iceberg
