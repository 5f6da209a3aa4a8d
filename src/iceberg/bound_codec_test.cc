// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/byte_text.h"
#include "base/random.h"
#include "iceberg/literal.h"

namespace firn::iceberg {
namespace {

Type Plain(TypeKind kind) { return Type{.kind = kind}; }
Type DecimalType(std::int32_t precision, std::int32_t scale) {
  return Type{.kind = TypeKind::kDecimal, .precision = precision, .scale = scale};
}
Type Fixed(std::int32_t length) { return Type{.kind = TypeKind::kFixed, .length = length}; }

TEST(BoundCodec, EncodeBound_KnownValues_GiveTheSpecsBytes) {
  const struct {
    Type type;
    Literal value;
    const char* hex;
  } cases[] = {
      {Plain(TypeKind::kBoolean), true, "01"},
      {Plain(TypeKind::kBoolean), false, "00"},
      {Plain(TypeKind::kInt), std::int32_t{1}, "01000000"},
      {Plain(TypeKind::kInt), std::int32_t{-2}, "feffffff"},
      {Plain(TypeKind::kLong), std::int64_t{1}, "0100000000000000"},
      {Plain(TypeKind::kLong), std::int32_t{-1}, "ffffffffffffffff"},
      {Plain(TypeKind::kFloat), 1.0f, "0000803f"},
      {Plain(TypeKind::kDouble), 1.0, "000000000000f03f"},
      {Plain(TypeKind::kDouble), 1.0f, "000000000000f03f"},
      {Plain(TypeKind::kDate), std::int32_t{17486}, "4e440000"},
      {Plain(TypeKind::kTime), std::int64_t{1}, "0100000000000000"},
      {Plain(TypeKind::kTimestampTz), std::int64_t{256}, "0001000000000000"},
      {Plain(TypeKind::kString), std::string("ä\0b", 4), "c3a40062"},
      {Plain(TypeKind::kUuid), *ParseUuid("f79c3e09-677c-4bbd-a479-3f349cb785e7"), "f79c3e09677c4bbda4793f349cb785e7"},
      {Fixed(2), Bytes{0xff, 0x00}, "ff00"},
      {Plain(TypeKind::kBinary), Bytes{}, ""},
      {DecimalType(9, 2), Decimal{1420}, "058c"},
      {DecimalType(9, 2), Decimal{-128}, "80"},
  };
  for (const auto& [type, value, hex] : cases) {
    EXPECT_EQ(HexText(EncodeBound(type, value)), hex) << ToString(type);
    const auto decoded = DecodeBound(type, EncodeBound(type, value));
    ASSERT_TRUE(decoded.has_value()) << ToString(type);
    EXPECT_EQ(HexText(EncodeBound(type, *decoded)), hex);
  }
}

TEST(BoundCodec, DecodeBound_PromotedTypes_ReadTheOldWidth) {
  const Bytes four = *ParseHex("feffffff"), one_float = *ParseHex("0000803f");
  EXPECT_EQ(*DecodeBound(Plain(TypeKind::kLong), four), Literal(std::int64_t{-2}));
  EXPECT_EQ(*DecodeBound(Plain(TypeKind::kDouble), one_float), Literal(1.0));
  EXPECT_EQ(*DecodeBound(Plain(TypeKind::kTimestamp), four), Literal(std::int64_t{-2 * 86'400'000'000}));
  EXPECT_EQ(*DecodeBound(Plain(TypeKind::kTimestampNs), four), Literal(std::int64_t{-2 * 86'400'000'000'000}));
  for (const char* hex : {"058c", "00058c", "00000000058c"}) {
    EXPECT_EQ(*DecodeBound(DecimalType(38, 2), *ParseHex(hex)), Literal(Decimal{1420})) << hex;
  }
  // A date may become a timestamp, never a timestamptz; out of range is an error.
  EXPECT_EQ(DecodeBound(Plain(TypeKind::kTimestampTz), four).error().code, Code::kCorrupt);
  EXPECT_EQ(DecodeBound(Plain(TypeKind::kTime), four).error().code, Code::kCorrupt);
  EXPECT_EQ(DecodeBound(Plain(TypeKind::kTimestamp), *ParseHex("ffffff7f")).error().code, Code::kCorrupt);
  EXPECT_EQ(DecodeBound(Plain(TypeKind::kTimestampNs), *ParseHex("00000200")).error().code, Code::kCorrupt);
}

TEST(BoundCodec, DecodeBound_OtherLengths_Corrupt) {
  const struct {
    Type type;
    std::vector<std::size_t> good;
  } cases[] = {
      {Plain(TypeKind::kBoolean), {1}},
      {Plain(TypeKind::kInt), {4}},
      {Plain(TypeKind::kDate), {4}},
      {Plain(TypeKind::kLong), {4, 8}},
      {Plain(TypeKind::kTime), {8}},
      {Plain(TypeKind::kTimestamp), {4, 8}},
      {Plain(TypeKind::kTimestampTz), {8}},
      {Plain(TypeKind::kTimestampNs), {4, 8}},
      {Plain(TypeKind::kTimestampTzNs), {8}},
      {Plain(TypeKind::kFloat), {4}},
      {Plain(TypeKind::kDouble), {4, 8}},
      {Plain(TypeKind::kUuid), {16}},
      {Fixed(3), {0, 1, 2, 3}},
  };
  for (const auto& [type, good] : cases) {
    for (std::size_t size = 0; size < 24; ++size) {
      const auto decoded = DecodeBound(type, Bytes(size, 0));
      const bool wanted = std::find(good.begin(), good.end(), size) != good.end();
      EXPECT_EQ(decoded.has_value(), wanted) << ToString(type) << " " << size;
      EXPECT_TRUE(wanted || decoded.error().code == Code::kCorrupt) << ToString(type) << " " << size;
    }
  }
  EXPECT_EQ(DecodeBound(DecimalType(9, 2), {}).error().code, Code::kCorrupt);
  EXPECT_EQ(DecodeBound(DecimalType(9, 2), Bytes(17, 1)).error().code, Code::kCorrupt);
}

TEST(BoundCodec, DecodeBound_TypesWithoutForm_Unsupported) {
  for (const TypeKind kind : {TypeKind::kUnknown, TypeKind::kVariant, TypeKind::kGeometry, TypeKind::kGeography}) {
    EXPECT_EQ(DecodeBound(Plain(kind), Bytes(8)).error().code, Code::kUnsupported);
  }
}

TEST(BoundCodec, DecodeBound_RandomBytes_RoundTripWhereAccepted) {
  const Type types[] = {Plain(TypeKind::kInt),
                        Plain(TypeKind::kLong),
                        Plain(TypeKind::kFloat),
                        Plain(TypeKind::kDouble),
                        Plain(TypeKind::kString),
                        Plain(TypeKind::kUuid),
                        Fixed(5),
                        Plain(TypeKind::kBinary),
                        DecimalType(38, 10)};
  Random random(5);
  for (int i = 0; i < 20'000; ++i) {
    const Type& type = types[random.Below(std::size(types))];
    Bytes bytes(random.Below(20));
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.Next());
    const auto decoded = DecodeBound(type, bytes);
    if (!decoded) continue;
    const auto again = DecodeBound(type, EncodeBound(type, *decoded));
    ASSERT_TRUE(again.has_value());
    ASSERT_TRUE(SameValue(*again, *decoded)) << ToString(type) << " " << HexText(bytes);
  }
}

TEST(Literal, SameValue_Floats_ByBitsWithOneNaN) {
  const float quiet = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(SameValue(Literal(quiet), Literal(-quiet)));
  EXPECT_FALSE(SameValue(Literal(0.0), Literal(-0.0)));
  EXPECT_TRUE(SameValue(Literal(), Literal()));
  EXPECT_FALSE(SameValue(Literal(), Literal(false)));
  EXPECT_FALSE(SameValue(Literal(std::int32_t{1}), Literal(std::int64_t{1})));
  EXPECT_FALSE(SameValue(Literal(std::string("a")), Literal(Bytes{'a'})));
  EXPECT_TRUE(SameValue(Literal(Decimal{-5}), Literal(Decimal{-5})));
}

TEST(Literal, Compare_AscendingValues_AreInTheSpecsOrder) {
  const double infinity = std::numeric_limits<double>::infinity();
  const struct {
    Type type;
    std::vector<Literal> ascending;
  } cases[] = {
      {Plain(TypeKind::kBoolean), {false, true}},
      {Plain(TypeKind::kInt), {std::numeric_limits<std::int32_t>::min(), -1, 0, 1}},
      {Plain(TypeKind::kLong), {std::int64_t{-5}, std::int64_t{5}}},
      {Plain(TypeKind::kDouble), {-infinity, -1.0, -0.0, 0.0, 1.0, infinity, std::numeric_limits<double>::quiet_NaN()}},
      {Plain(TypeKind::kFloat), {-1.0f, -0.0f, 0.0f, std::numeric_limits<float>::quiet_NaN()}},
      {Plain(TypeKind::kString),
       {std::string(), std::string("\0", 1), std::string("Z"), std::string("a"), std::string("aa"),
        std::string("\xef\xbf\xbd"), std::string("\xf0\x9f\x98\x80")}},
      {Plain(TypeKind::kUuid),
       {*ParseUuid("7fffffff-0000-0000-0000-000000000000"), *ParseUuid("80000000-0000-0000-0000-000000000000")}},
      {Plain(TypeKind::kBinary), {Bytes{}, Bytes{0}, Bytes{0x7f}, Bytes{0x80}, Bytes{0x80, 0}}},
      {DecimalType(38, 0), {Decimal{-(static_cast<__int128>(1) << 100)}, Decimal{-1}, Decimal{0}, Decimal{1}}},
  };
  for (const auto& [type, ascending] : cases) {
    for (std::size_t i = 0; i < ascending.size(); ++i) {
      for (std::size_t j = 0; j < ascending.size(); ++j) {
        EXPECT_EQ(Compare(type, ascending[i], ascending[j]), i <=> j) << ToString(type) << " " << i << " " << j;
        EXPECT_EQ(SameValue(ascending[i], ascending[j]), i == j) << ToString(type) << " " << i << " " << j;
      }
    }
  }
}

}  // namespace
}  // namespace firn::iceberg
