// SPDX-License-Identifier: Apache-2.0
#include "service/page_cursor.h"

#include <gtest/gtest.h>

namespace firn::service {
namespace {

TEST(PageCursor, IsReadAsItWasWritten) {
  const Place places[] = {{}, {0.1, -3, "a|b|c"}, {-1e300, 1e-300, ""}, {1.0 / 3, 5, "cat/ns.name"}};
  for (const Place& place : places) {
    const auto read = ParseCursor(CursorOf(place));
    ASSERT_TRUE(read.has_value()) << place.name;
    EXPECT_EQ(*read, place) << place.name;
  }
}

TEST(PageCursor, OtherTextIsRefused) {
  for (const std::string_view text : {"", "1", "1|", "1|2", "x|1|a", "1|x|a", "|1|a", "1 |1|a", "1||a"}) {
    const auto read = ParseCursor(text);
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().code, Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace firn::service
