// SPDX-License-Identifier: Apache-2.0
#include "act/column_layouts.h"

#include <gtest/gtest.h>

namespace firn::act {
namespace {

ColumnLayouts::Columns Columns(std::size_t count, std::int32_t first_leaf, std::optional<Bytes> constant = {}) {
  ColumnLayouts::Columns columns(count);
  for (std::size_t i = 0; i < count; ++i) columns[i].leaf = first_leaf + static_cast<std::int32_t>(i);
  columns[0].constant = std::move(constant);
  return columns;
}

TEST(ColumnLayouts, EqualOnes_AreKeptOnceAndFoundByInput) {
  ColumnLayouts layouts(5);
  layouts.Set(0, Columns(3, 0));
  layouts.Set(2, Columns(3, 1));
  layouts.Set(3, Columns(3, 0));
  layouts.Set(4, Columns(3, 0, Bytes{1}));
  EXPECT_FALSE(layouts.is_used(1));
  EXPECT_EQ(layouts.Find(1), nullptr);
  ASSERT_TRUE(layouts.is_used(0));
  EXPECT_EQ(layouts.Find(0), layouts.Find(3));
  EXPECT_NE(layouts.Find(0), layouts.Find(4));
  EXPECT_EQ(layouts.Find(2)->at(2).leaf, 3);
  EXPECT_EQ(layouts.Find(4)->at(0).constant, Bytes{1});
}

TEST(ColumnLayouts, TooManyOrTooLarge_AreUsedButNotKnown) {
  ColumnLayouts many(1000);
  for (std::size_t i = 0; i < 1000; ++i) many.Set(i, Columns(1, static_cast<std::int32_t>(i)));
  EXPECT_NE(many.Find(0), nullptr);
  EXPECT_TRUE(many.is_used(999));
  EXPECT_EQ(many.Find(999), nullptr);

  ColumnLayouts large(3);
  large.Set(0, Columns(10, 0));
  large.Set(1, Columns(1000000, 0));
  large.Set(2, Columns(10, 0));
  EXPECT_TRUE(large.is_used(1));
  EXPECT_EQ(large.Find(1), nullptr);
  EXPECT_EQ(large.Find(2), large.Find(0));
}

}  // namespace
}  // namespace firn::act
