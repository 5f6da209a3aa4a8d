// SPDX-License-Identifier: Apache-2.0
#include "decide/column_overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"

namespace firn::decide {
namespace {

FileSpan Span(std::uint32_t low, std::uint32_t high, std::int64_t bytes = 100, std::int64_t rows = 10) {
  return {bytes, rows, low, high};
}

/// 0, 1, 2, ...
std::vector<double> Places(std::size_t count) {
  std::vector<double> places(count);
  std::iota(places.begin(), places.end(), 0.0);
  return places;
}

double Share(const std::vector<FileSpan>& files, std::size_t places) { return PointShare(files, Places(places), 1); }

TEST(ColumnOverlap, PointShare_Disjoint_OneOfThem) {
  std::vector<FileSpan> files;
  for (std::uint32_t i = 0; i < 20; ++i) files.push_back(Span(2 * i, 2 * i + 1));
  EXPECT_NEAR(Share(files, 40), 1.0 / 20, 1e-12);
}

TEST(ColumnOverlap, PointShare_AllSpanEverything_One) {
  EXPECT_NEAR(Share(std::vector<FileSpan>(50, Span(0, 99)), 100), 1, 1e-12);
}

TEST(ColumnOverlap, PointShare_OneValueInAllFiles_One) {
  EXPECT_NEAR(Share(std::vector<FileSpan>(50, Span(0, 0)), 1), 1, 1e-12);
}

TEST(ColumnOverlap, PointShare_NoFilesOrNoBounds_One) {
  EXPECT_EQ(Share({}, 0), 1);
  EXPECT_NEAR(Share(std::vector<FileSpan>(5, FileSpan{100, 10, {}, {}}), 0), 1, 1e-12);
}

TEST(ColumnOverlap, PointShare_FileWithoutBounds_IsAlwaysOpened) {
  const std::vector<FileSpan> files = {Span(0, 1), Span(2, 3), {200, 0, {}, {}}};
  EXPECT_NEAR(Share(files, 4), 0.75, 1e-12);  // 100 of one, 200 of the unknown one, of 400
}

TEST(ColumnOverlap, PointShare_CountsBytesAndRows) {
  // 90 of 100 rows lie in the file with a tenth of the bytes.
  const std::vector<FileSpan> files = {Span(0, 1, 100, 90), Span(2, 3, 900, 10)};
  EXPECT_NEAR(Share(files, 4), 0.9 * 0.1 + 0.1 * 0.9, 1e-12);
}

TEST(ColumnOverlap, PointShare_WiderBounds_NeverLess) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    // Files that all have the same rows, so that only the bytes that cover a place matter.
    std::vector<FileSpan> files;
    for (int i = 0; i < 12; ++i) {
      const auto low = static_cast<std::uint32_t>(random.Below(50));
      files.push_back(Span(low, low + static_cast<std::uint32_t>(random.Below(50 - low)), 100, 0));
    }
    files.push_back(Span(0, 49, 1, 1000));
    const double before = Share(files, 50);
    auto& widened = files[random.Below(12)];
    *widened.low = static_cast<std::uint32_t>(random.Below(*widened.low + 1));
    EXPECT_GE(Share(files, 50), before - 1e-12);
  }
}

TEST(ColumnOverlap, PointShare_Shuffled_NearlyOne) {
  // 80 files of 200 values each, taken anywhere between 0 and 2^40: bounds crowd at both ends.
  Random random(3);
  std::vector<double> bounds;
  std::vector<std::pair<double, double>> files;
  for (int file = 0; file < 80; ++file) {
    double low = HUGE_VAL, high = 0;
    for (int row = 0; row < 200; ++row) {
      const auto value = static_cast<double>(random.Below(std::uint64_t{1} << 40));
      low = std::min(low, value);
      high = std::max(high, value);
    }
    files.emplace_back(low, high);
    bounds.push_back(low);
    bounds.push_back(high);
  }
  std::ranges::sort(bounds);
  const auto place = [&](double value) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(bounds, value) - bounds.begin());
  };
  std::vector<FileSpan> spans;
  for (const auto& [low, high] : files) spans.push_back(Span(place(low), place(high)));
  EXPECT_GT(PointShare(spans, bounds, 1), 0.97);
}

TEST(ColumnOverlap, PointShare_InfiniteAndEqualPlaces_StaysAShare) {
  const std::vector<double> places = {-HUGE_VAL, 0, 0, 1e308, HUGE_VAL};
  const double share = PointShare(std::vector<FileSpan>{Span(0, 4), Span(1, 2), Span(2, 3)}, places, 0);
  EXPECT_GT(share, 0.3);
  EXPECT_LE(share, 1);
  const std::vector<double> unknown(3, std::numeric_limits<double>::quiet_NaN());
  EXPECT_LE(PointShare(std::vector<FileSpan>{Span(0, 1), Span(2, 2)}, unknown, 0), 1);
}

TEST(ColumnOverlap, SortedPointShare_BoundedByFilesAndValues) {
  EXPECT_NEAR(SortedPointShare(1000, 100, std::nullopt), 0.1, 1e-12);
  EXPECT_NEAR(SortedPointShare(1000, 100, 4), 0.25, 1e-12);
  EXPECT_EQ(SortedPointShare(50, 100, std::nullopt), 1);
  EXPECT_EQ(SortedPointShare(1000, 100, 0), 1);
}

TEST(ColumnOverlap, JudgeSort_ShuffledPays_OrderedDoesNot) {
  SortCandidate candidate;
  candidate.bounds_share = 1;
  candidate.point_share_now = 0.98;
  candidate.point_share_sorted = 0.1;
  JudgeSort(candidate);
  EXPECT_TRUE(candidate.pays);
  EXPECT_NE(candidate.reason.find("98 %"), std::string::npos) << candidate.reason;
  candidate.point_share_now = 0.11;
  JudgeSort(candidate);
  EXPECT_FALSE(candidate.pays);
  candidate.point_share_now = 0.9;
  candidate.point_share_sorted = 0.6;
  JudgeSort(candidate);
  EXPECT_FALSE(candidate.pays) << candidate.reason;
  candidate.point_share_now = candidate.point_share_sorted = 1;
  JudgeSort(candidate);
  EXPECT_FALSE(candidate.pays);
  candidate.point_share_sorted = 0.1;
  candidate.bounds_share = 0.5;
  JudgeSort(candidate);
  EXPECT_FALSE(candidate.pays) << candidate.reason;
}

}  // namespace
}  // namespace firn::decide
