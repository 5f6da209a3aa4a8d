// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>

#include "base/byte_text.h"
#include "base/random.h"
#include "iceberg/partition_spec.h"
#include "iceberg/utf8.h"

namespace firn::iceberg {
namespace {

Type Plain(TypeKind kind) { return Type{.kind = kind}; }
const Type kDecimal{.kind = TypeKind::kDecimal, .precision = 38, .scale = 2};

Literal MustApply(const char* transform, const Type& source, const Literal& value) {
  auto result = Apply(ParseTransform(transform), source, value);
  EXPECT_TRUE(result.has_value()) << transform << " " << ToString(source);
  return result ? *result : Literal();
}

TEST(ParseTransform, KnownTexts_GiveKindAndParameter) {
  const struct {
    const char* text;
    TransformKind kind;
    std::int32_t parameter;
  } cases[] = {
      {"identity", TransformKind::kIdentity, 0},
      {"bucket[16]", TransformKind::kBucket, 16},
      {"truncate[10]", TransformKind::kTruncate, 10},
      {"year", TransformKind::kYear, 0},
      {"month", TransformKind::kMonth, 0},
      {"day", TransformKind::kDay, 0},
      {"hour", TransformKind::kHour, 0},
      {"void", TransformKind::kVoid, 0},
      {"Bucket[2]", TransformKind::kBucket, 2},
      {"zorder", TransformKind::kUnknown, 0},
      {"bucket[0]", TransformKind::kUnknown, 0},
      {"bucket[-1]", TransformKind::kUnknown, 0},
      {"bucket[x]", TransformKind::kUnknown, 0},
      {"bucket[99999999999]", TransformKind::kUnknown, 0},
      {"bucket", TransformKind::kUnknown, 0},
      {"truncate[]", TransformKind::kUnknown, 0},
      {"", TransformKind::kUnknown, 0},
      {"days", TransformKind::kUnknown, 0},
  };
  for (const auto& [text, kind, parameter] : cases) {
    const Transform transform = ParseTransform(text);
    EXPECT_EQ(transform.kind, kind) << text;
    EXPECT_EQ(transform.parameter, parameter) << text;
    EXPECT_EQ(transform.text, text);
  }
}

TEST(Apply, ExamplesOfTheSpec_Agree) {
  EXPECT_EQ(MustApply("truncate[10]", Plain(TypeKind::kInt), std::int32_t{1}), Literal(std::int32_t{0}));
  EXPECT_EQ(MustApply("truncate[10]", Plain(TypeKind::kInt), std::int32_t{-1}), Literal(std::int32_t{-10}));
  EXPECT_EQ(MustApply("truncate[10]", Plain(TypeKind::kLong), std::int64_t{-1}), Literal(std::int64_t{-10}));
  EXPECT_EQ(MustApply("truncate[50]", kDecimal, Decimal{1065}), Literal(Decimal{1050}));
  EXPECT_EQ(MustApply("truncate[50]", kDecimal, Decimal{-1065}), Literal(Decimal{-1100}));
  EXPECT_EQ(MustApply("truncate[3]", Plain(TypeKind::kString), std::string("iceberg")), Literal(std::string("ice")));
  EXPECT_EQ(MustApply("truncate[3]", Plain(TypeKind::kBinary), Bytes{1, 2, 3, 4, 5}), Literal(Bytes{1, 2, 3}));
  EXPECT_EQ(MustApply("bucket[16]", Plain(TypeKind::kInt), std::int32_t{34}), Literal(2017239379 % 16));
  // A negative hash: the sign bit goes before the remainder.
  EXPECT_EQ(MustApply("bucket[100]", Plain(TypeKind::kBinary), Bytes{0, 1, 2, 3}),
            Literal(static_cast<std::int32_t>((-188683207 & 0x7fffffff) % 100)));
}

TEST(Apply, TruncateAtTheEnds_WrapsAsJavaDoes) {
  EXPECT_EQ(MustApply("truncate[10]", Plain(TypeKind::kInt), std::numeric_limits<std::int32_t>::min()),
            Literal(std::int32_t{2147483646}));
  EXPECT_EQ(MustApply("truncate[2147483647]", Plain(TypeKind::kInt), std::int32_t{5}), Literal(std::int32_t{0}));
  EXPECT_EQ(MustApply("truncate[2147483647]", Plain(TypeKind::kInt), std::int32_t{-5}),
            Literal(std::int32_t{-2147483647}));
}

TEST(Apply, NullAndVoid_GiveNull) {
  for (const char* transform : {"identity", "bucket[4]", "truncate[4]", "year", "hour", "void"}) {
    EXPECT_TRUE(IsNull(MustApply(transform, Plain(TypeKind::kTimestamp), Literal()))) << transform;
  }
  EXPECT_TRUE(IsNull(MustApply("void", Plain(TypeKind::kInt), std::int32_t{1})));
}

TEST(Apply, WrongSources_Refused) {
  const struct {
    const char* transform;
    Type source;
    Literal value;
  } cases[] = {
      {"bucket[4]", Plain(TypeKind::kBoolean), true},
      {"bucket[4]", Plain(TypeKind::kDouble), 1.0},
      {"truncate[4]", Plain(TypeKind::kDate), 5},
      {"truncate[4]", Plain(TypeKind::kUuid), Bytes(16)},
      {"year", Plain(TypeKind::kInt), 5},
      {"hour", Plain(TypeKind::kDate), 5},
      {"day", Plain(TypeKind::kTime), std::int64_t{5}},
      {"truncate[4]", Plain(TypeKind::kLong), 5},
      {"day", Plain(TypeKind::kTimestamp), std::int32_t{5}},
  };
  for (const auto& [transform, source, value] : cases) {
    const auto result = Apply(ParseTransform(transform), source, value);
    ASSERT_FALSE(result.has_value()) << transform << " " << ToString(source);
    EXPECT_EQ(result.error().code, Code::kInvalidArgument);
  }
  EXPECT_EQ(Apply(ParseTransform("zorder"), Plain(TypeKind::kInt), 5).error().code, Code::kUnsupported);
}

/// Floor of `value / divisor` by search, in 128 bits.
__int128 SlowFloor(__int128 value, __int128 divisor) {
  __int128 low = -(static_cast<__int128>(1) << 70), high = static_cast<__int128>(1) << 70;
  while (high - low > 1) {
    const __int128 middle = low + (high - low) / 2;
    (middle * divisor <= value ? low : high) = middle;
  }
  return low;
}

TEST(Apply, RandomIntegers_TruncateToTheMultipleBelow) {
  Random random(23);
  for (int i = 0; i < 20'000; ++i) {
    const auto width = static_cast<std::int32_t>(1 + random.Below(std::uint64_t{1} << (1 + random.Below(30))));
    const auto value = static_cast<std::int64_t>(random.Next()) >> random.Below(63);
    const std::string text = fmt::format("truncate[{}]", width);
    const __int128 expected = SlowFloor(value, width) * width;
    if (expected >= std::numeric_limits<std::int64_t>::min()) {
      ASSERT_EQ(MustApply(text.c_str(), Plain(TypeKind::kLong), value), Literal(static_cast<std::int64_t>(expected)));
    }
    ASSERT_EQ(MustApply(text.c_str(), kDecimal, Decimal{value}), Literal(Decimal{expected}));
    const auto narrow = static_cast<std::int32_t>(value);
    const __int128 narrow_expected = SlowFloor(narrow, width) * width;
    if (narrow_expected >= std::numeric_limits<std::int32_t>::min()) {
      ASSERT_EQ(MustApply(text.c_str(), Plain(TypeKind::kInt), narrow),
                Literal(static_cast<std::int32_t>(narrow_expected)));
    }
  }
}

/// Year and month of a day by walking month by month from 1970.
std::pair<std::int64_t, std::int64_t> SlowYearMonth(std::int64_t days) {
  const auto length = [](std::int64_t year, std::int64_t month) {
    constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 1 && leap ? 29 : kDays[month];
  };
  std::int64_t year = 1970, month = 0, start = 0;
  while (days >= start + length(year, month)) {
    start += length(year, month);
    if (++month == 12) ++year, month = 0;
  }
  while (days < start) {
    if (--month < 0) --year, month = 11;
    start -= length(year, month);
  }
  return {year - 1970, (year - 1970) * 12 + month};
}

TEST(Apply, RandomTimes_FloorToTheirUnits) {
  Random random(29);
  for (int i = 0; i < 3'000; ++i) {
    const auto micros = static_cast<std::int64_t>(random.Next()) % 60'000'000'000'000'000;  // about 1900 years
    const std::int64_t nanos = micros % 9'000'000'000'000'000 * 1000 + static_cast<std::int64_t>(random.Below(1000));
    const struct {
      TypeKind kind;
      std::int64_t value;
      std::int64_t per_second;
    } sources[] = {{TypeKind::kTimestamp, micros, 1'000'000},
                   {TypeKind::kTimestampTz, micros, 1'000'000},
                   {TypeKind::kTimestampNs, nanos, 1'000'000'000},
                   {TypeKind::kTimestampTzNs, nanos, 1'000'000'000}};
    for (const auto& [kind, value, per_second] : sources) {
      const auto days = static_cast<std::int64_t>(SlowFloor(value, static_cast<__int128>(per_second) * 86'400));
      const auto hours = static_cast<std::int64_t>(SlowFloor(value, static_cast<__int128>(per_second) * 3'600));
      const auto [years, months] = SlowYearMonth(days);
      ASSERT_EQ(MustApply("year", Plain(kind), value), Literal(static_cast<std::int32_t>(years))) << value;
      ASSERT_EQ(MustApply("month", Plain(kind), value), Literal(static_cast<std::int32_t>(months))) << value;
      ASSERT_EQ(MustApply("day", Plain(kind), value), Literal(static_cast<std::int32_t>(days))) << value;
      ASSERT_EQ(MustApply("hour", Plain(kind), value), Literal(static_cast<std::int32_t>(hours))) << value;
      const auto date = static_cast<std::int32_t>(days);
      ASSERT_EQ(MustApply("year", Plain(TypeKind::kDate), date), Literal(static_cast<std::int32_t>(years)));
      ASSERT_EQ(MustApply("month", Plain(TypeKind::kDate), date), Literal(static_cast<std::int32_t>(months)));
      ASSERT_EQ(MustApply("day", Plain(TypeKind::kDate), date), Literal(date));
    }
  }
}

TEST(Apply, ExtremeTimes_AreDefined) {
  for (const TypeKind kind : {TypeKind::kTimestamp, TypeKind::kTimestampNs}) {
    for (const std::int64_t value :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
      for (const char* transform : {"year", "month", "day"}) {
        EXPECT_FALSE(IsNull(MustApply(transform, Plain(kind), value)));
      }
    }
  }
  EXPECT_EQ(
      Apply(ParseTransform("hour"), Plain(TypeKind::kTimestamp), std::numeric_limits<std::int64_t>::max()).error().code,
      Code::kUnsupported);
}

TEST(ResultType, EachTransform_AsTheSpecSays) {
  const Type source = Plain(TypeKind::kTimestampTz);
  EXPECT_TRUE(ResultType(ParseTransform("identity"), source) == source);
  EXPECT_TRUE(ResultType(ParseTransform("truncate[2]"), kDecimal) == kDecimal);
  EXPECT_TRUE(ResultType(ParseTransform("void"), source) == source);
  EXPECT_EQ(ResultType(ParseTransform("bucket[2]"), source).kind, TypeKind::kInt);
  EXPECT_EQ(ResultType(ParseTransform("year"), source).kind, TypeKind::kInt);
  EXPECT_EQ(ResultType(ParseTransform("month"), source).kind, TypeKind::kInt);
  EXPECT_EQ(ResultType(ParseTransform("day"), source).kind, TypeKind::kDate);
  EXPECT_EQ(ResultType(ParseTransform("hour"), source).kind, TypeKind::kInt);
  EXPECT_EQ(ResultType(ParseTransform("zorder"), source).kind, TypeKind::kString);
}

TEST(ToHumanText, KnownValues_AreWhatJavaPrints) {
  const Type ts = Plain(TypeKind::kTimestamp);
  const struct {
    const char* transform;
    Type source;
    Literal value;
    const char* text;
  } cases[] = {
      {"year", ts, 47, "2017"},
      {"year", ts, -1, "1969"},
      {"year", ts, -2000, "-030"},
      {"month", ts, 575, "2017-12"},
      {"month", ts, -1, "1969-12"},
      {"day", ts, 17501, "2017-12-01"},
      {"day", ts, -1, "1969-12-31"},
      {"hour", ts, 420034, "2017-12-01-10"},
      {"hour", ts, -1, "1969-12-31-23"},
      {"hour", ts, Literal(), "null"},
      {"bucket[8]", ts, 3, "3"},
      {"identity", Plain(TypeKind::kDate), 17501, "2017-12-01"},
      {"identity", Plain(TypeKind::kString), std::string("a b"), "a b"},
      {"truncate[10]", kDecimal, Decimal{1050}, "10.50"},
      {"truncate[2]", Plain(TypeKind::kBinary), Bytes{1, 2}, "AQI="},
      {"void", ts, Literal(), "null"},
  };
  for (const auto& [transform, source, value, text] : cases) {
    EXPECT_EQ(ToHumanText(ParseTransform(transform), source, value), text) << transform;
  }
}

}  // namespace
}  // namespace firn::iceberg
