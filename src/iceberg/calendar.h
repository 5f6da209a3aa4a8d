// SPDX-License-Identifier: Apache-2.0
//
// Days, times and timestamps of the table format as calendar text, and back.
//
// Guarantees: defined for every 32-bit day and every 64-bit timestamp (proleptic Gregorian, floor for values before
//   1970); text is what the Java implementation prints.
// Threads: pure. Cost: a few divisions.
// Source: Iceberg table spec, Appendix D "JSON single-value serialization"; the civil-day algorithm by H. Hinnant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firn::iceberg {

/// Units of a stored timestamp or time of day.
enum class TimeUnit : std::uint8_t { kMicros, kNanos };

inline constexpr std::int64_t UnitsPerSecond(TimeUnit unit) {
  return unit == TimeUnit::kMicros ? 1'000'000 : 1'000'000'000;
}
inline constexpr std::int64_t kSecondsPerDay = 86'400;

/// Division that rounds towards minus infinity; `divisor` > 0.
inline constexpr std::int64_t FloorDivide(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}
/// The remainder that belongs to FloorDivide: never negative.
inline constexpr std::int64_t FloorRemainder(std::int64_t value, std::int64_t divisor) {
  const std::int64_t remainder = value % divisor;
  return remainder < 0 ? remainder + divisor : remainder;
}

struct CivilDate {
  std::int64_t year = 1970;
  std::int32_t month = 1;  // 1 to 12
  std::int32_t day = 1;    // 1 to 31
};

CivilDate CivilFromDays(std::int64_t days);
std::int64_t DaysFromCivil(const CivilDate& date);

/// "2017-11-16": years of at least four digits.
std::string DateText(std::int64_t days);
/// "2017-11-16T22:31:08.123456" with every digit of the unit, for JSON. Years above 9999 get a plus sign.
std::string IsoTimestampText(std::int64_t value, TimeUnit unit);
std::string IsoTimeText(std::int64_t micros_of_day);
std::string IsoDateText(std::int64_t days);
/// The same without zeros at the end of the fraction: "2017-11-16T22:31:08.12", for people.
std::string ShortTimestampText(std::int64_t value, TimeUnit unit);
/// Zero seconds left out, fractions cut in steps of three digits: "22:31", "22:31:08.120", for people.
std::string ShortTimeText(std::int64_t micros_of_day);

/// Parse the ISO texts; nullopt for anything that is not exactly a value of the unit.
std::optional<std::int32_t> ParseDate(std::string_view text);
std::optional<std::int64_t> ParseTime(std::string_view text);
std::optional<std::int64_t> ParseTimestamp(std::string_view text, TimeUnit unit);

}  // namespace firn::iceberg
