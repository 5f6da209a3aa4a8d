// SPDX-License-Identifier: Apache-2.0
#include "base/byte_text.h"

#include <gtest/gtest.h>

#include <string>

namespace firn {
namespace {

TEST(Base64Text, ExamplesOfRfc4648) {
  EXPECT_EQ(Base64Text(AsBytes("")), "");
  EXPECT_EQ(Base64Text(AsBytes("f")), "Zg==");
  EXPECT_EQ(Base64Text(AsBytes("fo")), "Zm8=");
  EXPECT_EQ(Base64Text(AsBytes("foo")), "Zm9v");
  EXPECT_EQ(Base64Text(AsBytes("\xfb\xff\xfe")), "+//+");
}

TEST(ParseHex, TakesWhatHexTextWrites) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  const auto parsed = ParseHex(HexText(AsBytes(all)));
  ASSERT_TRUE(parsed);
  EXPECT_EQ(AsText(*parsed), all);
  EXPECT_EQ(ParseHex("fF"), Bytes{0xff});
  for (const char* text : {"f", "fg", "0x", "+1", " 1"}) EXPECT_FALSE(ParseHex(text)) << text;
}

TEST(PercentDecoded, BrokenEscapesAreRefused) {
  EXPECT_EQ(PercentDecoded("a%2Fb+c", /*plus_is_space=*/true), "a/b c");
  EXPECT_EQ(PercentDecoded("a+b", /*plus_is_space=*/false), "a+b");
  EXPECT_EQ(PercentDecoded("%e4%2b", /*plus_is_space=*/true), "\xe4+");
  for (const char* text : {"%", "%2", "%zz", "a%1"}) EXPECT_FALSE(PercentDecoded(text, true)) << text;
}

}  // namespace
}  // namespace firn
