// SPDX-License-Identifier: Apache-2.0
#include "orient/quiet_hours.h"

#include <gtest/gtest.h>

#include <array>

#include "base/random.h"

namespace firn::orient {
namespace {

constexpr std::int64_t kMinuteMs = 60'000, kHourMs = 60 * kMinuteMs, kDayMs = 24 * kHourMs;
constexpr std::int64_t kMonday = 4 * kDayMs;  // 1970-01-05

TimestampMs At(int day, int hour, int minute = 0) {
  return {kMonday + day * kDayMs + hour * kHourMs + minute * kMinuteMs};
}

TEST(QuietHours, WorkingDays) {
  const QuietHours hours = ParseQuietHours("Mon-Fri 08:00-18:00").value();
  EXPECT_FALSE(QuietUntil(hours, At(0, 7, 59)));
  EXPECT_EQ(QuietUntil(hours, At(0, 8)), At(0, 18));
  EXPECT_EQ(QuietUntil(hours, TimestampMs{At(4, 17, 59).value + 59'999}), At(4, 18));
  EXPECT_FALSE(QuietUntil(hours, At(4, 18)));
  EXPECT_FALSE(QuietUntil(hours, At(5, 12)));
}

TEST(QuietHours, NightsPassMidnightAndTheWeek) {
  const QuietHours hours = ParseQuietHours("22:00-06:00").value();
  EXPECT_EQ(QuietUntil(hours, At(2, 23)), At(3, 6));
  EXPECT_EQ(QuietUntil(hours, At(6, 23)), At(7, 6)) << "from Sunday to Monday";
  EXPECT_EQ(QuietUntil(hours, At(0, 1)), At(0, 6));
  EXPECT_FALSE(QuietUntil(hours, At(0, 6)));
}

TEST(QuietHours, TouchingWindows_AreOne) {
  const QuietHours hours = ParseQuietHours("Sat,Sun 00:00-24:00; Mon 00:00-05:00; Fri 20:00-24:00").value();
  EXPECT_EQ(QuietUntil(hours, At(4, 21)), At(7, 5));
  const QuietHours wrap = ParseQuietHours("Sat-Mon 12:00-12:00").value();
  EXPECT_EQ(QuietUntil(wrap, At(6, 13)), At(8, 12)) << "a whole day each";
}

TEST(QuietHours, Nothing_IsNeverQuiet) {
  EXPECT_FALSE(QuietUntil(ParseQuietHours("").value(), At(0, 0)));
  EXPECT_FALSE(QuietUntil(ParseQuietHours("  ").value(), At(0, 0)));
}

TEST(QuietHours, BadTexts_AreRefused) {
  for (const char* text : {"8:00-18:00", "08:00", "Mon", "Mon-Xyz 08:00-09:00", "08:00-25:00", "08:60-09:00",
                           "24:00-01:00", "08:00-18:00;;", "mon 08:00-09:00", "00:00-24:00", "00:00-00:00",
                           "00:00-12:00; 12:00-24:00", ", 08:00-09:00", "08:00-09:00-10:00", "0a:00-01:00"}) {
    EXPECT_FALSE(ParseQuietHours(text).has_value()) << text;
  }
  std::string many;
  for (std::size_t i = 0; i <= kQuietWindowsMax; ++i) many += "01:00-02:00;";
  EXPECT_FALSE(ParseQuietHours(many).has_value());
}

/// Against a table of every minute of the week.
TEST(QuietHours, RandomWindows_AgreeWithAMinuteTable) {
  static constexpr const char* kNames[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  Random random(11);
  for (int round = 0; round < 100; ++round) {
    std::string text;
    std::array<bool, 10'080> quiet{};
    for (std::size_t n = 1 + random.Below(4); n > 0; --n) {
      const auto day = random.Below(7), begin = random.Below(1440), length = 1 + random.Below(1440);
      const auto end = (begin + length) % 1440;
      char window[64];
      std::snprintf(window, sizeof window, "%s %02d:%02d-%02d:%02d;", kNames[day], static_cast<int>(begin / 60),
                    static_cast<int>(begin % 60), static_cast<int>(end / 60), static_cast<int>(end % 60));
      text += window;
      for (std::size_t i = 0; i < length; ++i) quiet[(day * 1440 + begin + i) % quiet.size()] = true;
    }
    const auto hours = ParseQuietHours(text);
    ASSERT_TRUE(hours.has_value()) << text;
    for (int probe = 0; probe < 200; ++probe) {
      const auto minute = random.Below(quiet.size());
      const TimestampMs now{kMonday + static_cast<std::int64_t>(minute) * kMinuteMs +
                            static_cast<std::int64_t>(random.Below(60'000))};
      const auto until = QuietUntil(*hours, now);
      ASSERT_EQ(until.has_value(), quiet[minute]) << text << " at minute " << minute;
      if (!until) continue;
      std::int64_t last = minute;
      while (quiet[static_cast<std::size_t>(last) % quiet.size()]) ++last;
      EXPECT_EQ(until->value, kMonday + last * kMinuteMs) << text;
    }
  }
}

}  // namespace
}  // namespace firn::orient
