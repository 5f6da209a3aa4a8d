// SPDX-License-Identifier: Apache-2.0
#include "base/text_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace firn {
namespace {

using testing::ElementsAre;

TEST(Split, EverySeparatorEndsAPart) {
  EXPECT_THAT(Split("a.bc.d", '.'), ElementsAre("a", "bc", "d"));
  EXPECT_THAT(Split("", '.'), ElementsAre(""));
  EXPECT_THAT(Split(".", '.'), ElementsAre("", ""));
  EXPECT_THAT(Split("a..b.", '.'), ElementsAre("a", "", "b", ""));
}

TEST(NextPart, CutsTheSeparatorToo) {
  std::string_view text = "a,,b,";
  EXPECT_EQ(NextPart(text, ','), "a");
  EXPECT_EQ(text, ",b,");
  EXPECT_EQ(NextPart(text, ','), "");
  EXPECT_EQ(NextPart(text, ','), "b");
  EXPECT_EQ(text, "");
  EXPECT_EQ(NextPart(text, ','), "");
}

TEST(Trimmed, BothEndsAndNothingBetween) {
  EXPECT_EQ(Trimmed(" \ta b \t"), "a b");
  EXPECT_EQ(Trimmed("a \r"), "a \r") << "an end of line is no blank";
  EXPECT_EQ(Trimmed("a \r\n", " \r\n"), "a");
  EXPECT_EQ(Trimmed(" \t"), "");
  EXPECT_EQ(Trimmed(""), "");
}

TEST(OneLine, IsCutAndHasNoControlCharacters) {
  EXPECT_EQ(OneLine("a\r\n\tb\x1f"
                    "c"),
            "a   b c");
  EXPECT_EQ(OneLine("abc", 2), "ab");
  EXPECT_EQ(OneLine("\xc3\xa4"), "\xc3\xa4");
}

}  // namespace
}  // namespace firn
