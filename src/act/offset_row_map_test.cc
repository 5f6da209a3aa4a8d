// SPDX-License-Identifier: Apache-2.0
#include "act/offset_row_map.h"

#include <gtest/gtest.h>

namespace firn::act {
namespace {

std::shared_ptr<const roaring::PositionSet> SetOf(std::initializer_list<std::int64_t> positions) {
  auto set = std::make_shared<roaring::PositionSet>();
  for (const std::int64_t position : positions) set->Add(position);
  return set;
}

TEST(OffsetRowMap, NothingDeleted_PositionsShift) {
  const OffsetRowMap map(2, 100, 10, nullptr);
  EXPECT_EQ(map.Find(0), (RowPlace{2, 100}));
  EXPECT_EQ(map.Find(9), (RowPlace{2, 109}));
  EXPECT_TRUE(map.deleted().empty());
}

TEST(OffsetRowMap, DeletedRows_HaveNoPlaceAndMakeNoGap) {
  const OffsetRowMap map(0, 5, 200'000, SetOf({0, 3, 4, 70'000, 199'999}));
  EXPECT_EQ(map.Find(0), std::nullopt);
  EXPECT_EQ(map.Find(1), (RowPlace{0, 5}));
  EXPECT_EQ(map.Find(3), std::nullopt);
  EXPECT_EQ(map.Find(5), (RowPlace{0, 7}));
  EXPECT_EQ(map.Find(69'999), (RowPlace{0, 5 + 69'999 - 3}));
  EXPECT_EQ(map.Find(70'000), std::nullopt);
  EXPECT_EQ(map.Find(70'001), (RowPlace{0, 5 + 70'001 - 4}));
  EXPECT_EQ(map.Find(199'999), std::nullopt);
}

TEST(OffsetRowMap, OutsideOfTheFile_NoPlace) {
  const OffsetRowMap map(0, 0, 3, SetOf({1}));
  EXPECT_EQ(map.Find(-1), std::nullopt);
  EXPECT_EQ(map.Find(3), std::nullopt);
  EXPECT_EQ(map.Find(std::int64_t{1} << 40), std::nullopt);
}

}  // namespace
}  // namespace firn::act
