// SPDX-License-Identifier: Apache-2.0
#include "iceberg/calendar.h"

#include <gtest/gtest.h>

#include <limits>

namespace firn::iceberg {
namespace {

bool IsLeap(std::int64_t year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }

int DaysOfMonth(std::int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

/// Walks the calendar one day at a time: slow, and obviously right.
TEST(Calendar, CivilFromDays_EveryDayOf1600Years_AgreesWithCounting) {
  CivilDate date{1970, 1, 1};
  for (std::int64_t days = 0; days < 300'000; ++days) {
    const CivilDate computed = CivilFromDays(days);
    ASSERT_TRUE(computed.year == date.year && computed.month == date.month && computed.day == date.day) << days;
    ASSERT_EQ(DaysFromCivil(date), days);
    if (++date.day > DaysOfMonth(date.year, date.month)) {
      date.day = 1;
      if (++date.month > 12) {
        date.month = 1;
        ++date.year;
      }
    }
  }
  date = {1970, 1, 1};
  for (std::int64_t days = 0; days > -800'000; --days) {
    const CivilDate computed = CivilFromDays(days);
    ASSERT_TRUE(computed.year == date.year && computed.month == date.month && computed.day == date.day) << days;
    ASSERT_EQ(DaysFromCivil(date), days);
    if (--date.day < 1) {
      if (--date.month < 1) {
        date.month = 12;
        --date.year;
      }
      date.day = DaysOfMonth(date.year, date.month);
    }
  }
}

TEST(Calendar, FloorDivide_NegativeValues_RoundDown) {
  EXPECT_EQ(FloorDivide(-1, 1000), -1);
  EXPECT_EQ(FloorDivide(-1000, 1000), -1);
  EXPECT_EQ(FloorDivide(-1001, 1000), -2);
  EXPECT_EQ(FloorDivide(999, 1000), 0);
  EXPECT_EQ(FloorRemainder(-1, 1000), 999);
  EXPECT_EQ(FloorRemainder(-1000, 1000), 0);
  EXPECT_EQ(FloorDivide(std::numeric_limits<std::int64_t>::min(), 1000), -9'223'372'036'854'776);
}

TEST(Calendar, Texts_OfKnownInstants_AreIso) {
  const std::int64_t instant = 1'510'871'468'000'001;  // 2017-11-16T22:31:08.000001
  EXPECT_EQ(IsoTimestampText(instant, TimeUnit::kMicros), "2017-11-16T22:31:08.000001");
  EXPECT_EQ(IsoTimestampText(instant * 1000 + 7, TimeUnit::kNanos), "2017-11-16T22:31:08.000001007");
  EXPECT_EQ(ShortTimestampText(instant - 1, TimeUnit::kMicros), "2017-11-16T22:31:08");
  EXPECT_EQ(ShortTimestampText(instant - 1 + 120'000, TimeUnit::kMicros), "2017-11-16T22:31:08.12");
  EXPECT_EQ(ShortTimestampText(instant, TimeUnit::kMicros), "2017-11-16T22:31:08.000001");
  EXPECT_EQ(ShortTimestampText(0, TimeUnit::kMicros), "1970-01-01T00:00:00");
  EXPECT_EQ(ShortTimestampText(-1, TimeUnit::kMicros), "1969-12-31T23:59:59.999999");
  EXPECT_EQ(ShortTimestampText(-1, TimeUnit::kNanos), "1969-12-31T23:59:59.999999999");
  EXPECT_EQ(IsoTimeText(81'068'123'456), "22:31:08.123456");
  EXPECT_EQ(ShortTimeText(81'060'000'000), "22:31");
  EXPECT_EQ(IsoDateText(17'486), "2017-11-16");
  EXPECT_EQ(IsoDateText(-719'529), "-0001-12-31");
  EXPECT_EQ(IsoDateText(-719'528), "0000-01-01");
  EXPECT_EQ(IsoDateText(2'932'897), "+10000-01-01");
  EXPECT_EQ(DateText(2'932'897), "10000-01-01");
}

TEST(Calendar, Parse_IsoTexts_GiveTheValueBack) {
  for (const std::int64_t value :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'510'871'468'000'001},
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
    for (const TimeUnit unit : {TimeUnit::kMicros, TimeUnit::kNanos}) {
      EXPECT_EQ(ParseTimestamp(IsoTimestampText(value, unit), unit), value);
      EXPECT_EQ(ParseTimestamp(ShortTimestampText(value, unit), unit), value);
    }
  }
  for (const std::int32_t days : {0, -1, 17'486, -719'529, 2'932'897, std::numeric_limits<std::int32_t>::min(),
                                  std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_EQ(ParseDate(IsoDateText(days)), days);
  }
  for (const std::int64_t micros : {std::int64_t{0}, std::int64_t{1}, std::int64_t{86'399'999'999}}) {
    EXPECT_EQ(ParseTime(IsoTimeText(micros)), micros);
    EXPECT_EQ(ParseTime(ShortTimeText(micros)), micros);
  }
}

TEST(Calendar, Parse_WrongTexts_Refused) {
  for (const char* text : {"", "2017", "2017-11", "2017-13-01", "2017-00-01", "2017-02-29", "2017-11-31", "2017-11-16 ",
                           " 2017-11-16", "17-11-16", "2017-1-16", "2017-11-16T", "999999999-01-01", "--2017-11-16"}) {
    EXPECT_FALSE(ParseDate(text)) << text;
  }
  for (const char* text : {"", "24:00", "22", "22:60", "22:31:60", "22:31:08.", "22:31:08.1234567",
                           "22:31:08.0000000000", "22:31:08Z", "-1:00"}) {
    EXPECT_FALSE(ParseTime(text)) << text;
  }
  EXPECT_EQ(ParseTime("22:31:08.123456000"), 81'068'123'456);
  for (const char* text :
       {"2017-11-16", "2017-11-16 22:31:08", "2017-11-16T22:31:08Z", "2017-11-16T", "+300000-01-01T00:00:00"}) {
    EXPECT_FALSE(ParseTimestamp(text, TimeUnit::kMicros)) << text;
  }
  EXPECT_FALSE(ParseTimestamp("2300-01-01T00:00:00", TimeUnit::kNanos));
  EXPECT_TRUE(ParseTimestamp("2300-01-01T00:00:00", TimeUnit::kMicros));
}

}  // namespace
}  // namespace firn::iceberg
