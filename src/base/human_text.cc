// SPDX-License-Identifier: Apache-2.0
#include "base/human_text.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/text_parts.h"

namespace firn {
namespace {

constexpr std::array<std::string_view, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

/// Power of 1024 that a unit stands for; nullopt for text that is no unit.
std::optional<int> UnitPower(std::string_view unit) {
  const std::string lower = AsciiLower(unit);
  if (lower.empty() || lower == "b") return 0;
  constexpr std::string_view letters = "kmgtpe";
  const auto power = letters.find(lower[0]);
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = std::string_view(lower).substr(1);
  if (!rest.empty() && rest != "b" && rest != "ib") return std::nullopt;
  return static_cast<int>(power) + 1;
}

}  // namespace

std::string HumanBytes(std::int64_t bytes) {
  const bool negative = bytes < 0;
  double value = std::fabs(static_cast<double>(bytes));
  std::size_t unit = 0;
  // 999.5 is where three digits would read "1e+03".
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{}{:.{}f} {}", negative ? "-" : "", value, digits, kUnits[unit]);
}

std::string HumanCount(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  const std::size_t first = digits[0] == '-' ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, ",");
  }
  return digits;
}

std::string HumanCount(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", HumanCount(count), noun, count == 1 ? "" : "s");
}

std::string HumanSeconds(double seconds) {
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1000);
  if (seconds < 99.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", HumanCount(whole / 3600), whole % 3600 / 60);
}

std::optional<std::int64_t> ParseHumanBytes(std::string_view text) {
  text = Trimmed(text);
  double number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc{} || !(number >= 0)) return std::nullopt;
  const auto power = UnitPower(Trimmed(text.substr(static_cast<std::size_t>(end - text.data()))));
  if (!power) return std::nullopt;
  const double bytes = std::ldexp(number, 10 * *power);
  if (!(bytes <= std::ldexp(1.0, 62))) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(bytes));
}

}  // namespace firn
