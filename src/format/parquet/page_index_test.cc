// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "format/parquet/footer.h"

namespace firn::parquet {
namespace {

OffsetIndex SomeOffsets() {
  OffsetIndex index;
  index.pages = {{4, 100, 0}, {104, 50, 20}, {154, 60, 21}};
  index.unencoded_byte_array_data_bytes = {10, 0, 30};
  return index;
}

ColumnIndex SomeColumnIndex() {
  ColumnIndex index;
  index.null_pages = {false, true, false};
  index.min_values = {{1}, {}, {3}};
  index.max_values = {{2}, {}, {4}};
  index.boundary_order = BoundaryOrder::kAscending;
  index.null_counts = {0, 1, 2};
  index.repetition_level_histograms = {1, 2, 3, 4, 5, 6};
  index.definition_level_histograms = {6, 5, 4};
  index.nan_counts = {0, 0, 0};
  return index;
}

TEST(PageIndex, OffsetIndex_RoundTrips) {
  Bytes bytes;
  WriteOffsetIndex(SomeOffsets(), bytes);
  const Result<OffsetIndex> parsed = ParseOffsetIndex(bytes);
  ASSERT_TRUE(parsed) << parsed.error().message;
  ASSERT_EQ(parsed->pages.size(), 3U);
  EXPECT_EQ(parsed->pages[2].offset, 154);
  EXPECT_EQ(parsed->pages[1].compressed_size, 50);
  EXPECT_EQ(parsed->pages[2].first_row_index, 21);
  EXPECT_EQ(parsed->unencoded_byte_array_data_bytes, (std::vector<std::int64_t>{10, 0, 30}));
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseOffsetIndex(ByteView(bytes).first(size)));
  }
}

TEST(PageIndex, OffsetIndexWithImpossibleMembers_IsCorrupt) {
  void (*const edits[])(OffsetIndex&) = {
      [](OffsetIndex& i) { i.pages[1].first_row_index = 30; },
      [](OffsetIndex& i) { i.pages[0].offset = -1; },
      [](OffsetIndex& i) { i.pages[0].compressed_size = -1; },
      [](OffsetIndex& i) { i.unencoded_byte_array_data_bytes.pop_back(); },
  };
  for (const auto edit : edits) {
    OffsetIndex index = SomeOffsets();
    edit(index);
    Bytes bytes;
    WriteOffsetIndex(index, bytes);
    const Result<OffsetIndex> parsed = ParseOffsetIndex(bytes);
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().code, Code::kCorrupt);
  }
}

TEST(PageIndex, ColumnIndex_RoundTrips) {
  Bytes bytes;
  WriteColumnIndex(SomeColumnIndex(), bytes);
  const Result<ColumnIndex> parsed = ParseColumnIndex(bytes, 3);
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->null_pages, SomeColumnIndex().null_pages);
  EXPECT_EQ(parsed->max_values, SomeColumnIndex().max_values);
  EXPECT_EQ(parsed->boundary_order, BoundaryOrder::kAscending);
  EXPECT_EQ(parsed->repetition_level_histograms, SomeColumnIndex().repetition_level_histograms);
  EXPECT_EQ(parsed->nan_counts, SomeColumnIndex().nan_counts);
  Bytes again;
  WriteColumnIndex(*parsed, again);
  EXPECT_EQ(again, bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(ParseColumnIndex(ByteView(bytes).first(size), 3));
  }
}

TEST(PageIndex, ColumnIndexOfOtherPageCount_IsCorrupt) {
  Bytes bytes;
  WriteColumnIndex(SomeColumnIndex(), bytes);
  EXPECT_FALSE(ParseColumnIndex(bytes, 2));
  EXPECT_FALSE(ParseColumnIndex(bytes, 4));
  void (*const edits[])(ColumnIndex&) = {
      [](ColumnIndex& i) { i.min_values.pop_back(); },
      [](ColumnIndex& i) { i.null_counts.pop_back(); },
      [](ColumnIndex& i) { i.nan_counts.push_back(1); },
      [](ColumnIndex& i) { i.definition_level_histograms.push_back(1); },
      [](ColumnIndex& i) { i.boundary_order = static_cast<BoundaryOrder>(3); },
  };
  for (const auto edit : edits) {
    ColumnIndex index = SomeColumnIndex();
    edit(index);
    bytes.clear();
    WriteColumnIndex(index, bytes);
    EXPECT_FALSE(ParseColumnIndex(bytes, 3));
  }
}

}  // namespace
}  // namespace firn::parquet
