// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <limits>

#include "base/byte_text.h"
#include "iceberg/literal.h"

namespace firn::iceberg {
namespace {

Type Plain(TypeKind kind) { return Type{.kind = kind}; }
Type DecimalType(std::int32_t precision, std::int32_t scale) {
  return Type{.kind = TypeKind::kDecimal, .precision = precision, .scale = scale};
}

TEST(ToText, KnownValues_AreWhatJavaPrints) {
  const std::int64_t instant = 1'510'871'468'123'456;
  const struct {
    Type type;
    Literal value;
    const char* text;
  } cases[] = {
      {Plain(TypeKind::kInt), Literal(), "null"},
      {Plain(TypeKind::kBoolean), true, "true"},
      {Plain(TypeKind::kInt), std::int32_t{-7}, "-7"},
      {Plain(TypeKind::kLong), std::numeric_limits<std::int64_t>::min(), "-9223372036854775808"},
      {Plain(TypeKind::kFloat), 1.0f, "1.0"},
      {Plain(TypeKind::kFloat), 0.1f, "0.1"},
      {Plain(TypeKind::kFloat), 1.0e10f, "1.0E10"},
      {Plain(TypeKind::kFloat), 1.5e-5f, "1.5E-5"},
      {Plain(TypeKind::kFloat), std::numeric_limits<float>::quiet_NaN(), "NaN"},
      {Plain(TypeKind::kDouble), -std::numeric_limits<double>::infinity(), "-Infinity"},
      {Plain(TypeKind::kDouble), std::numeric_limits<double>::infinity(), "Infinity"},
      {Plain(TypeKind::kDouble), -0.0, "-0.0"},
      {Plain(TypeKind::kDouble), 0.001, "0.001"},
      {Plain(TypeKind::kDouble), 0.00099, "9.9E-4"},
      {Plain(TypeKind::kDouble), 9999999.0, "9999999.0"},
      {Plain(TypeKind::kDouble), 10000000.0, "1.0E7"},
      {Plain(TypeKind::kDouble), 123456.789, "123456.789"},
      {Plain(TypeKind::kDouble), 1.7976931348623157e308, "1.7976931348623157E308"},
      {Plain(TypeKind::kDouble), 4.9e-324, "4.9E-324"},
      {DecimalType(9, 2), Decimal{-1420}, "-14.20"},
      {DecimalType(38, 10), Decimal{1}, "1E-10"},
      {Plain(TypeKind::kDate), std::int32_t{17486}, "2017-11-16"},
      {Plain(TypeKind::kDate), std::int32_t{-1}, "1969-12-31"},
      {Plain(TypeKind::kTime), std::int64_t{36'775'038'194}, "10:12:55.038194"},
      {Plain(TypeKind::kTimestamp), instant, "2017-11-16T22:31:08.123456"},
      {Plain(TypeKind::kTimestampTz), instant, "2017-11-16T22:31:08.123456+00:00"},
      {Plain(TypeKind::kTimestampNs), instant * 1000 + 7, "2017-11-16T22:31:08.123456007"},
      {Plain(TypeKind::kTimestamp), instant - 456, "2017-11-16T22:31:08.123"},
      {Plain(TypeKind::kTimestamp), instant - 3'456, "2017-11-16T22:31:08.12"},
      {Plain(TypeKind::kTimestamp), std::int64_t{0}, "1970-01-01T00:00:00"},
      {Plain(TypeKind::kTime), std::int64_t{36'775'120'000}, "10:12:55.120"},
      {Plain(TypeKind::kTime), std::int64_t{36'720'000'000}, "10:12"},
      {Plain(TypeKind::kTimestampTzNs), instant * 1000, "2017-11-16T22:31:08.123456+00:00"},
      {Plain(TypeKind::kString), std::string("a/b=c%"), "a/b=c%"},
      {Plain(TypeKind::kUuid), *ParseUuid("F79C3E09-677C-4BBD-A479-3F349CB785E7"),
       "f79c3e09-677c-4bbd-a479-3f349cb785e7"},
      {Plain(TypeKind::kBinary), Bytes{}, ""},
      {Plain(TypeKind::kBinary), Bytes{1}, "AQ=="},
      {Plain(TypeKind::kBinary), Bytes{1, 2}, "AQI="},
      {Type{.kind = TypeKind::kFixed, .length = 3}, Bytes{1, 2, 0xff}, "AQL/"},
  };
  for (const auto& [type, value, text] : cases) EXPECT_EQ(ToText(type, value), text) << ToString(type);
}

TEST(LiteralJson, KnownValues_RoundTrip) {
  const struct {
    Type type;
    const char* json;
    Literal value;
  } cases[] = {
      {Plain(TypeKind::kBoolean), "true", true},
      {Plain(TypeKind::kInt), "34", std::int32_t{34}},
      {Plain(TypeKind::kLong), "-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
      {Plain(TypeKind::kFloat), "1.5", 1.5f},
      {Plain(TypeKind::kFloat), "0.1", 0.1f},
      {Plain(TypeKind::kDouble), "0.1", 0.1},
      {DecimalType(9, 2), "\"14.20\"", Decimal{1420}},
      {DecimalType(38, 10), "\"0.0000000001\"", Decimal{1}},
      {Plain(TypeKind::kDate), "\"2017-11-16\"", std::int32_t{17486}},
      {Plain(TypeKind::kTime), "\"22:31:08.123456\"", std::int64_t{81'068'123'456}},
      {Plain(TypeKind::kTimestamp), "\"2017-11-16T22:31:08.123456\"", std::int64_t{1'510'871'468'123'456}},
      {Plain(TypeKind::kTimestampTz), "\"2017-11-16T22:31:08.123456+00:00\"", std::int64_t{1'510'871'468'123'456}},
      {Plain(TypeKind::kTimestampNs), "\"2017-11-16T22:31:08.123456789\"", std::int64_t{1'510'871'468'123'456'789}},
      {Plain(TypeKind::kTimestampTzNs), "\"2017-11-16T22:31:08.123456789+00:00\"",
       std::int64_t{1'510'871'468'123'456'789}},
      {Plain(TypeKind::kString), "\"iceberg\"", std::string("iceberg")},
      {Plain(TypeKind::kUuid), "\"f79c3e09-677c-4bbd-a479-3f349cb785e7\"",
       *ParseUuid("f79c3e09-677c-4bbd-a479-3f349cb785e7")},
      {Type{.kind = TypeKind::kFixed, .length = 4}, "\"000102ff\"", Bytes{0, 1, 2, 0xff}},
      {Plain(TypeKind::kBinary), "\"\"", Bytes{}},
      {Plain(TypeKind::kBinary), "null", Literal()},
      {Plain(TypeKind::kVariant), "null", Literal()},
  };
  for (const auto& [type, text, value] : cases) {
    const auto read = LiteralFromJson(type, *json::Parse(text));
    ASSERT_TRUE(read.has_value()) << text << ": " << ToString(read.error());
    EXPECT_TRUE(SameValue(*read, value)) << text;
    EXPECT_EQ(json::Write(ToJson(type, value)), text);
  }
}

TEST(LiteralJson, OtherSpellings_Accepted) {
  EXPECT_EQ(*LiteralFromJson(Plain(TypeKind::kTimestampTz), json::Value("1970-01-01T00:00:00Z")),
            Literal(std::int64_t{0}));
  EXPECT_EQ(*LiteralFromJson(Plain(TypeKind::kTimestamp), json::Value("1970-01-01T00:00")), Literal(std::int64_t{0}));
  EXPECT_EQ(*LiteralFromJson(Plain(TypeKind::kDouble), json::Value(3)), Literal(3.0));
  EXPECT_EQ(*LiteralFromJson(Plain(TypeKind::kBinary), json::Value("00FF")), Literal(Bytes{0, 0xff}));
}

TEST(LiteralJson, WrongValues_Corrupt) {
  const struct {
    Type type;
    const char* json;
  } cases[] = {
      {Plain(TypeKind::kBoolean), "1"},
      {Plain(TypeKind::kInt), "2147483648"},
      {Plain(TypeKind::kInt), "1.5"},
      {Plain(TypeKind::kInt), "\"1\""},
      {Plain(TypeKind::kFloat), "1e300"},
      {Plain(TypeKind::kFloat), "\"NaN\""},
      {DecimalType(9, 2), "14.20"},
      {DecimalType(9, 2), "\"14.205\""},
      {Plain(TypeKind::kDate), "17486"},
      {Plain(TypeKind::kDate), "\"2017-02-30\""},
      {Plain(TypeKind::kTimestamp), "\"2017-11-16T22:31:08+00:00\""},
      {Plain(TypeKind::kTimestampTz), "\"2017-11-16T22:31:08\""},
      {Plain(TypeKind::kTimestampTz), "\"2017-11-16T22:31:08+01:00\""},
      {Plain(TypeKind::kTimestamp), "\"2017-11-16T22:31:08.123456789\""},
      {Plain(TypeKind::kUuid), "\"f79c3e09677c4bbda4793f349cb785e7\""},
      {Plain(TypeKind::kUuid), "\"f79c3e09-677c-4bbd-a479-3f349cb785eg\""},
      {Type{.kind = TypeKind::kFixed, .length = 4}, "\"0001\""},
      {Plain(TypeKind::kBinary), "\"0\""},
      {Plain(TypeKind::kString), "5"},
  };
  for (const auto& [type, text] : cases) {
    const auto read = LiteralFromJson(type, *json::Parse(text));
    ASSERT_FALSE(read.has_value()) << ToString(type) << " " << text;
    EXPECT_EQ(read.error().code, Code::kCorrupt);
  }
  EXPECT_EQ(LiteralFromJson(Plain(TypeKind::kGeometry), json::Value("POINT (30 10)")).error().code, Code::kUnsupported);
}

}  // namespace
}  // namespace firn::iceberg
