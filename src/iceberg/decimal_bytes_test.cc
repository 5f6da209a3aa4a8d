// SPDX-License-Identifier: Apache-2.0
#include "iceberg/decimal_bytes.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace firn::iceberg {
namespace {

/// The smallest count of bytes whose range holds the value, by trying.
Bytes SlowMinimal(__int128 value) {
  for (int size = 1; size < 16; ++size) {
    const __int128 limit = static_cast<__int128>(1) << (8 * size - 1);
    if (value < -limit || value >= limit) continue;
    Bytes bytes;
    for (int i = size - 1; i >= 0; --i) {
      __int128 part = value;
      for (int shift = 0; shift < i; ++shift) part = (part - ((part % 256) + 256) % 256) / 256;
      bytes.push_back(static_cast<std::uint8_t>(((part % 256) + 256) % 256));
    }
    return bytes;
  }
  Bytes bytes(16);
  for (int i = 15; i >= 0; --i, value >>= 8)
    bytes[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value & 0xff);
  return bytes;
}

TEST(Decimal, MinimalBigEndian_KnownValues_HaveNoRedundantByte) {
  const struct {
    __int128 value;
    Bytes bytes;
  } cases[] = {
      {0, {0x00}},    {1, {0x01}},          {-1, {0xff}},         {127, {0x7f}},          {128, {0x00, 0x80}},
      {-128, {0x80}}, {-129, {0xff, 0x7f}}, {1420, {0x05, 0x8c}}, {-32768, {0x80, 0x00}}, {32768, {0x00, 0x80, 0x00}}};
  for (const auto& [value, bytes] : cases) EXPECT_EQ(MinimalBigEndian({value}), bytes);
}

TEST(Decimal, MinimalBigEndian_RandomValues_AgreeWithTryingSizes) {
  Random random(11);
  for (int i = 0; i < 20'000; ++i) {
    unsigned __int128 bits = static_cast<unsigned __int128>(random.Next()) << 64 | random.Next();
    const auto value = static_cast<__int128>(bits) >> (2 + random.Below(126));  // 38 digits have 126 bits
    const Bytes bytes = MinimalBigEndian({value});
    ASSERT_EQ(bytes, SlowMinimal(value));
    ASSERT_TRUE(DecimalFromBigEndian(bytes)->unscaled == value);
    Bytes padded(20 - bytes.size(), value < 0 ? 0xff : 0x00);
    padded.insert(padded.end(), bytes.begin(), bytes.end());
    ASSERT_TRUE(DecimalFromBigEndian(padded)->unscaled == value);
  }
}

TEST(Decimal, DecimalFromBigEndian_EmptyOrTooLarge_Refused) {
  EXPECT_FALSE(DecimalFromBigEndian({}));
  EXPECT_FALSE(DecimalFromBigEndian(Bytes(17, 0x01)));
  const __int128 largest = ParseDecimal("99999999999999999999999999999999999999", 0)->unscaled;
  for (const __int128 value : {largest, -largest}) {
    EXPECT_TRUE(DecimalFromBigEndian(MinimalBigEndian({value}))->unscaled == value);
    EXPECT_FALSE(DecimalFromBigEndian(MinimalBigEndian({value < 0 ? value - 1 : value + 1})));
  }
  Bytes sign_changes(17, 0x00);
  sign_changes[1] = 0x80;
  EXPECT_FALSE(DecimalFromBigEndian(sign_changes));
}

TEST(Decimal, Text_KnownValues_AsBigDecimal) {
  const struct {
    __int128 value;
    std::int32_t scale;
    const char* plain;
    const char* scientific;
  } cases[] = {
      {1420, 2, "14.20", "14.20"},
      {-1420, 2, "-14.20", "-14.20"},
      {0, 0, "0", "0"},
      {0, 2, "0.00", "0.00"},
      {5, 2, "0.05", "0.05"},
      {1, 6, "0.000001", "0.000001"},
      {1, 7, "0.0000001", "1E-7"},
      {-123, 10, "-0.0000000123", "-1.23E-8"},
      {0, 7, "0.0000000", "0E-7"},
      {12345, 0, "12345", "12345"},
  };
  for (const auto& [value, scale, plain, scientific] : cases) {
    EXPECT_EQ(PlainText({value}, scale), plain);
    EXPECT_EQ(ScientificText({value}, scale), scientific);
    EXPECT_TRUE(ParseDecimal(plain, scale)->unscaled == value) << plain;
    EXPECT_TRUE(ParseDecimal(scientific, scale)->unscaled == value) << scientific;
  }
}

TEST(Decimal, ParseDecimal_OtherScales_OnlyWhenExact) {
  EXPECT_TRUE(ParseDecimal("2E+20", 0)->unscaled == static_cast<__int128>(200'000'000'000'000'000) * 1000);
  EXPECT_TRUE(ParseDecimal("1.5", 3)->unscaled == 1500);
  EXPECT_TRUE(ParseDecimal("1.500", 1)->unscaled == 15);
  EXPECT_TRUE(ParseDecimal("0.000", 1)->unscaled == 0);
  EXPECT_TRUE(ParseDecimal("+7", 0)->unscaled == 7);
  EXPECT_TRUE(ParseDecimal("0007.5", 1)->unscaled == 75);
  for (const char* text : {"", "-", ".", "1.55", "1e", "1ee2", "1.2.3", "0x1", " 1", "1 ", "1e999999999999", "1E+38",
                           "100000000000000000000000000000000000000", "NaN"}) {
    EXPECT_FALSE(ParseDecimal(text, 1)) << text;
  }
  EXPECT_TRUE(ParseDecimal("99999999999999999999999999999999999999", 0));
  EXPECT_FALSE(ParseDecimal("999999999999999999999999999999999999999", 0));
}

}  // namespace
}  // namespace firn::iceberg
