// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/byte_text.h"
#include "base/random.h"
#include "iceberg/literal.h"
#include "iceberg/utf8.h"

namespace firn::iceberg {
namespace {

const Type kText{.kind = TypeKind::kString};
const Type kBinary{.kind = TypeKind::kBinary};

std::string Text(std::initializer_list<char32_t> points) {
  std::string text;
  for (const char32_t point : points) AppendCodePoint(point, text);
  return text;
}

TEST(TruncateBound, Strings_KnownCases_CutByCodePoints) {
  const struct {
    std::string value;
    std::int32_t length;
    std::string lower;
    std::optional<std::string> upper;
  } cases[] = {
      {"iceberg", 3, "ice", "icf"},
      {"ice", 3, "ice", "ice"},
      {"", 1, "", ""},
      {"äöü", 2, "äö", "ä÷"},
      {"😀😀😀", 1, "😀", "😁"},
      {Text({'a', 0x10FFFF, 'x'}), 2, Text({'a', 0x10FFFF}), "b"},
      {Text({0x10FFFF, 'x'}), 1, Text({0x10FFFF}), std::nullopt},
      {Text({0x10FFFF, 0x10FFFF, 'x'}), 2, Text({0x10FFFF, 0x10FFFF}), std::nullopt},
      {Text({0xD7FF, 'x'}), 1, Text({0xD7FF}), Text({0xE000})},
      {Text({0xFFFF, 'x'}), 1, Text({0xFFFF}), Text({0x10000})},
      {Text({0x7F, 'x'}), 1, Text({0x7F}), Text({0x80})},
      {Text({0x7FF, 'x'}), 1, Text({0x7FF}), Text({0x800})},
      {std::string("a\0b", 3), 2, std::string("a\0", 2), std::string("a\1", 2)},
      {"1234567890123456", 16, "1234567890123456", "1234567890123456"},
      {"12345678901234567", 16, "1234567890123456", "1234567890123457"},
  };
  for (const auto& [value, length, lower, upper] : cases) {
    EXPECT_EQ(TruncateLower(kText, value, length), Literal(lower)) << value;
    const auto cut = TruncateUpper(kText, value, length);
    ASSERT_EQ(cut.has_value(), upper.has_value()) << value;
    if (upper) {
      EXPECT_EQ(*cut, Literal(*upper)) << value;
    }
  }
}

TEST(TruncateBound, Bytes_KnownCases_CutByBytes) {
  const struct {
    const char* value;
    std::int32_t length;
    const char* lower;
    std::optional<const char*> upper;
  } cases[] = {
      {"010203", 2, "0102", "0103"},       {"0102", 2, "0102", "0102"}, {"01ffff", 2, "01ff", "02"},
      {"ffffff", 2, "ffff", std::nullopt}, {"ffff", 2, "ffff", "ffff"}, {"00ff7f80", 3, "00ff7f", "00ff80"},
  };
  for (const Type& type : {kBinary, Type{.kind = TypeKind::kFixed, .length = 4}}) {
    for (const auto& [value, length, lower, upper] : cases) {
      EXPECT_EQ(TruncateLower(type, *ParseHex(value), length), Literal(*ParseHex(lower))) << value;
      const auto cut = TruncateUpper(type, *ParseHex(value), length);
      ASSERT_EQ(cut.has_value(), upper.has_value()) << value;
      if (upper) {
        EXPECT_EQ(*cut, Literal(*ParseHex(*upper))) << value;
      }
    }
  }
}

TEST(TruncateBound, OtherTypes_StayAsTheyAre) {
  const Type uuid{.kind = TypeKind::kUuid}, number{.kind = TypeKind::kLong};
  EXPECT_EQ(TruncateUpper(uuid, Bytes(16, 0xff), 4), Literal(Bytes(16, 0xff)));
  EXPECT_EQ(TruncateLower(number, std::int64_t{123456}, 2), Literal(std::int64_t{123456}));
}

TEST(TruncateBound, LengthOfZero_GivesNoBound) {
  EXPECT_FALSE(TruncateLower(kText, std::string("abc"), 0));
  EXPECT_FALSE(TruncateUpper(kBinary, Bytes{1, 2}, 0));
}

TEST(TruncateBound, BrokenUtf8_LowerIsPrefixAndUpperIsOmitted) {
  const std::string broken = "a\xff\xff\xff";
  const auto lower = TruncateLower(kText, broken, 2);
  EXPECT_LE(std::get<std::string>(*lower), broken);
  EXPECT_FALSE(TruncateUpper(kText, broken, 2));
}

TEST(TruncateBound, RandomStrings_BoundsHoldAndAreTight) {
  const char32_t alphabet[] = {'a', 'b', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
  Random random(17);
  for (int i = 0; i < 20'000; ++i) {
    std::u32string points;
    for (std::uint64_t n = random.Below(6); n > 0; --n) points += alphabet[random.Below(std::size(alphabet))];
    std::string value;
    for (const char32_t point : points) AppendCodePoint(point, value);
    const auto length = static_cast<std::int32_t>(1 + random.Below(4));
    const auto size = static_cast<std::size_t>(length);

    // The oracle counts in code points: the prefix, and for the upper bound the last point that can grow.
    std::u32string upper_points = points.substr(0, size);
    if (points.size() > size) {
      while (!upper_points.empty() && upper_points.back() == 0x10FFFF) upper_points.pop_back();
      if (!upper_points.empty()) {
        ++upper_points.back();
        if (upper_points.back() == 0xD800) upper_points.back() = 0xE000;
      }
    }
    std::string lower_text, upper_text;
    for (const char32_t point : points.substr(0, size)) AppendCodePoint(point, lower_text);
    for (const char32_t point : upper_points) AppendCodePoint(point, upper_text);

    ASSERT_EQ(std::get<std::string>(*TruncateLower(kText, value, length)), lower_text);
    ASSERT_LE(lower_text, value);
    const auto upper = TruncateUpper(kText, value, length);
    ASSERT_EQ(upper.has_value(), !upper_points.empty() || points.empty());
    if (!upper) continue;
    ASSERT_EQ(std::get<std::string>(*upper), upper_text);
    ASSERT_GE(upper_text, value);
  }
}

TEST(Utf8, CodePointAt_BrokenBytes_Refused) {
  for (const char* text : {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xed\xbf\xbf",
                           "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "\xe2\x82", "\xe2"}) {
    EXPECT_FALSE(CodePointAt(text, 0)) << HexText(AsBytes(text));
  }
  for (char32_t point : {char32_t{0}, char32_t{0x7F}, char32_t{0x80}, char32_t{0x7FF}, char32_t{0x800},
                         char32_t{0xD7FF}, char32_t{0xE000}, char32_t{0xFFFF}, char32_t{0x10000}, kCodePointMax}) {
    const std::string text = Text({point});
    const auto read = CodePointAt(text, 0);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->value, point);
    EXPECT_EQ(read->size_bytes, text.size());
  }
}

}  // namespace
}  // namespace firn::iceberg
