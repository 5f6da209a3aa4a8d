// SPDX-License-Identifier: Apache-2.0
#include "base/human_text.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace firn {
namespace {

TEST(HumanBytes, ThreeSignificantDigits) {
  const std::vector<std::pair<std::int64_t, std::string>> cases = {{0, "0 B"},
                                                                   {1, "1 B"},
                                                                   {999, "999 B"},
                                                                   {1000, "0.98 KiB"},
                                                                   {1024, "1.00 KiB"},
                                                                   {112640, "110 KiB"},
                                                                   {1048575, "1.00 MiB"},
                                                                   {134217728, "128 MiB"},
                                                                   {1524713390, "1.42 GiB"},
                                                                   {-2048, "-2.00 KiB"},
                                                                   {10235, "10.0 KiB"},
                                                                   {INT64_MAX, "8.00 EiB"}};
  for (const auto& [bytes, text] : cases) EXPECT_EQ(HumanBytes(bytes), text) << bytes;
}

TEST(HumanCount, GroupsOfThree) {
  EXPECT_EQ(HumanCount(0), "0");
  EXPECT_EQ(HumanCount(999), "999");
  EXPECT_EQ(HumanCount(1000), "1,000");
  EXPECT_EQ(HumanCount(-1234567), "-1,234,567");
  EXPECT_EQ(HumanCount(-123), "-123");
  EXPECT_EQ(HumanCount(1, "file"), "1 file");
  EXPECT_EQ(HumanCount(1998, "file"), "1,998 files");
}

TEST(HumanSeconds, UnitFollowsSize) {
  EXPECT_EQ(HumanSeconds(0), "0 ms");
  EXPECT_EQ(HumanSeconds(0.085), "85 ms");
  EXPECT_EQ(HumanSeconds(0.9996), "1.0 s");
  EXPECT_EQ(HumanSeconds(3.21), "3.2 s");
  EXPECT_EQ(HumanSeconds(125), "2 min 5 s");
  EXPECT_EQ(HumanSeconds(3785), "1 h 3 min");
}

TEST(ParseHumanBytes, AcceptsUnitsOfEveryKind) {
  const std::vector<std::pair<std::string, std::int64_t>> cases = {{"0", 0},
                                                                   {"4096", 4096},
                                                                   {"128MB", 128 << 20},
                                                                   {"128 mib", 128 << 20},
                                                                   {"128m", 128 << 20},
                                                                   {"1.5 GiB", 1610612736},
                                                                   {"2k", 2048},
                                                                   {" 7 B ", 7}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(ParseHumanBytes(text), bytes) << text;
}

TEST(ParseHumanBytes, RefusesRubbish) {
  for (const char* text : {"", "MB", "-1", "1x", "1 MBs", "1e400", "nan", "inf", "99999999999E", "1..2", "0x10"}) {
    EXPECT_EQ(ParseHumanBytes(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace firn
