// SPDX-License-Identifier: Apache-2.0
#include "iceberg/calendar.h"

#include <fmt/format.h>

#include <charconv>

namespace firn::iceberg {
namespace {

constexpr std::int64_t kDaysPerEra = 146'097;        // 400 years
constexpr std::int64_t kDaysToCivilEpoch = 719'468;  // from 0000-03-01 to 1970-01-01

/// Year as Java's ISO formatter prints it.
std::string IsoYear(std::int64_t year) {
  if (year > 9999) return fmt::format("+{}", year);
  if (year < 0) return fmt::format("-{:04}", -year);
  return fmt::format("{:04}", year);
}

struct Clock {
  std::int64_t hour, minute, second, fraction;
};

Clock Split(std::int64_t units_of_day, TimeUnit unit) {
  const std::int64_t per_second = UnitsPerSecond(unit);
  const std::int64_t seconds = FloorDivide(units_of_day, per_second);
  return {seconds / 3600, seconds / 60 % 60, seconds % 60, FloorRemainder(units_of_day, per_second)};
}

std::string FullClock(const Clock& clock, TimeUnit unit) {
  return fmt::format("{:02}:{:02}:{:02}.{:0{}}", clock.hour, clock.minute, clock.second, clock.fraction,
                     unit == TimeUnit::kMicros ? 6 : 9);
}

/// As java.time.LocalTime.toString.
std::string GroupedClock(const Clock& clock) {
  std::string text = fmt::format("{:02}:{:02}", clock.hour, clock.minute);
  if (clock.second == 0 && clock.fraction == 0) return text;
  text += fmt::format(":{:02}", clock.second);
  if (clock.fraction == 0) return text;
  if (clock.fraction % 1'000 == 0) return text + fmt::format(".{:03}", clock.fraction / 1'000);
  return text + fmt::format(".{:06}", clock.fraction);
}

/// As java.time.format.DateTimeFormatter.ISO_LOCAL_TIME.
std::string TrimmedClock(const Clock& clock, TimeUnit unit) {
  std::string text = FullClock(clock, unit);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::optional<std::int64_t> TakeDigits(std::string_view& text, std::size_t digits_min, std::size_t digits_max) {
  std::size_t count = 0;
  std::int64_t number = 0;
  while (count < text.size() && count < digits_max && text[count] >= '0' && text[count] <= '9') {
    number = number * 10 + (text[count++] - '0');
  }
  if (count < digits_min) return std::nullopt;
  text.remove_prefix(count);
  return number;
}

bool TakeChar(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::int64_t> TakeDate(std::string_view& text) {
  const bool negative = TakeChar(text, '-');
  if (!negative) TakeChar(text, '+');
  const auto year = TakeDigits(text, 4, 9);
  if (!year || !TakeChar(text, '-')) return std::nullopt;
  const auto month = TakeDigits(text, 2, 2);
  if (!month || !TakeChar(text, '-')) return std::nullopt;
  const auto day = TakeDigits(text, 2, 2);
  if (!day || *month < 1 || *month > 12 || *day < 1 || *day > 31) return std::nullopt;
  const CivilDate date{negative ? -*year : *year, static_cast<std::int32_t>(*month), static_cast<std::int32_t>(*day)};
  const std::int64_t days = DaysFromCivil(date);
  if (CivilFromDays(days).day != date.day) return std::nullopt;  // 30 February
  return days;
}

/// Fraction digits as units; nullopt when digits below the unit are not zero.
std::optional<std::int64_t> TakeFraction(std::string_view& text, TimeUnit unit) {
  const std::size_t before = text.size();
  auto number = TakeDigits(text, 1, 9);
  if (!number) return std::nullopt;
  for (std::size_t digits = before - text.size(); digits < 9; ++digits) *number *= 10;
  const std::int64_t nanos_per_unit = unit == TimeUnit::kMicros ? 1000 : 1;
  if (*number % nanos_per_unit != 0) return std::nullopt;
  return *number / nanos_per_unit;
}

/// Units since midnight.
std::optional<std::int64_t> TakeClock(std::string_view& text, TimeUnit unit) {
  const auto hour = TakeDigits(text, 2, 2);
  if (!hour || *hour > 23 || !TakeChar(text, ':')) return std::nullopt;
  const auto minute = TakeDigits(text, 2, 2);
  if (!minute || *minute > 59) return std::nullopt;
  std::int64_t units = (*hour * 3600 + *minute * 60) * UnitsPerSecond(unit);
  if (!TakeChar(text, ':')) return units;
  const auto second = TakeDigits(text, 2, 2);
  if (!second || *second > 59) return std::nullopt;
  units += *second * UnitsPerSecond(unit);
  if (!TakeChar(text, '.')) return units;
  const auto fraction = TakeFraction(text, unit);
  if (!fraction) return std::nullopt;
  return units + *fraction;
}

}  // namespace

CivilDate CivilFromDays(std::int64_t days) {
  days += kDaysToCivilEpoch;
  const std::int64_t era = FloorDivide(days, kDaysPerEra);
  const std::int64_t day_of_era = days - era * kDaysPerEra;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;  // 0 is March
  const std::int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), static_cast<std::int32_t>(month),
          static_cast<std::int32_t>(day_of_year - (153 * shifted_month + 2) / 5 + 1)};
}

std::int64_t DaysFromCivil(const CivilDate& date) {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = FloorDivide(year, 400);
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t shifted_month = date.month > 2 ? date.month - 3 : date.month + 9;
  const std::int64_t day_of_year = (153 * shifted_month + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kDaysToCivilEpoch;
}

std::string DateText(std::int64_t days) {
  const CivilDate date = CivilFromDays(days);
  return fmt::format("{:04}-{:02}-{:02}", date.year, date.month, date.day);
}

std::string IsoDateText(std::int64_t days) {
  const CivilDate date = CivilFromDays(days);
  return fmt::format("{}-{:02}-{:02}", IsoYear(date.year), date.month, date.day);
}

std::string IsoTimeText(std::int64_t micros_of_day) {
  return FullClock(Split(micros_of_day, TimeUnit::kMicros), TimeUnit::kMicros);
}

std::string ShortTimeText(std::int64_t micros_of_day) { return GroupedClock(Split(micros_of_day, TimeUnit::kMicros)); }

std::string IsoTimestampText(std::int64_t value, TimeUnit unit) {
  const std::int64_t per_day = kSecondsPerDay * UnitsPerSecond(unit);
  return IsoDateText(FloorDivide(value, per_day)) + "T" + FullClock(Split(FloorRemainder(value, per_day), unit), unit);
}

std::string ShortTimestampText(std::int64_t value, TimeUnit unit) {
  const std::int64_t per_day = kSecondsPerDay * UnitsPerSecond(unit);
  return IsoDateText(FloorDivide(value, per_day)) + "T" +
         TrimmedClock(Split(FloorRemainder(value, per_day), unit), unit);
}

std::optional<std::int32_t> ParseDate(std::string_view text) {
  const auto days = TakeDate(text);
  if (!days || !text.empty() || *days != static_cast<std::int32_t>(*days)) return std::nullopt;
  return static_cast<std::int32_t>(*days);
}

std::optional<std::int64_t> ParseTime(std::string_view text) {
  const auto micros = TakeClock(text, TimeUnit::kMicros);
  return text.empty() ? micros : std::nullopt;
}

std::optional<std::int64_t> ParseTimestamp(std::string_view text, TimeUnit unit) {
  const auto days = TakeDate(text);
  if (!days || !TakeChar(text, 'T')) return std::nullopt;
  const auto clock = TakeClock(text, unit);
  if (!clock || !text.empty()) return std::nullopt;
  // The smallest value is in the middle of a day whose midnight does not fit: add in 128 bits.
  const __int128 value = static_cast<__int128>(*days) * kSecondsPerDay * UnitsPerSecond(unit) + *clock;
  if (value != static_cast<std::int64_t>(value)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace firn::iceberg
