// SPDX-License-Identifier: Apache-2.0
#include "iceberg/decimal_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace firn::iceberg {
namespace {

constexpr std::size_t kDigitsMax = 38;
constexpr __int128 kTenTo19 = static_cast<__int128>(10'000'000'000'000'000'000U);
constexpr __int128 kTenTo38 = kTenTo19 * kTenTo19;

/// Digits of the absolute value, "0" for zero.
std::string AbsoluteDigits(const Decimal& value) {
  auto rest = static_cast<unsigned __int128>(value.unscaled);
  if (value.unscaled < 0) rest = ~rest + 1;
  std::string digits;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

/// An optional exponent "E+20", "e-3" cut from the end of `text`; nullopt when it is broken.
std::optional<std::int32_t> CutExponent(std::string_view& text) {
  const auto mark = text.find_first_of("eE");
  if (mark == text.npos) return 0;
  std::string_view digits = text.substr(mark + 1);
  text = text.substr(0, mark);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int32_t exponent = 0;
  const auto [stop, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (fault != std::errc() || stop != digits.data() + digits.size()) return std::nullopt;
  if (exponent < -1000 || exponent > 1000) return std::nullopt;
  return exponent;
}

}  // namespace

Bytes MinimalBigEndian(const Decimal& value) {
  Bytes bytes(16);
  auto rest = static_cast<unsigned __int128>(value.unscaled);
  for (std::size_t i = 16; i-- > 0; rest >>= 8) bytes[i] = static_cast<std::uint8_t>(rest & 0xff);
  const std::uint8_t sign = value.unscaled < 0 ? 0xff : 0x00;
  std::size_t start = 0;
  while (start < 15 && bytes[start] == sign && (bytes[start + 1] & 0x80) == (sign & 0x80)) ++start;
  return {bytes.begin() + static_cast<std::ptrdiff_t>(start), bytes.end()};
}

std::optional<Decimal> DecimalFromBigEndian(ByteView bytes) {
  if (bytes.empty()) return std::nullopt;
  const std::uint8_t sign = (bytes[0] & 0x80) != 0 ? 0xff : 0x00;
  while (bytes.size() > 16) {
    if (bytes[0] != sign || (bytes[1] & 0x80) != (sign & 0x80)) return std::nullopt;
    bytes = bytes.subspan(1);
  }
  unsigned __int128 bits = sign == 0xff ? ~static_cast<unsigned __int128>(0) : 0;
  for (const std::uint8_t byte : bytes) bits = bits << 8 | byte;
  const auto value = static_cast<__int128>(bits);
  if (value <= -kTenTo38 || value >= kTenTo38) return std::nullopt;
  return Decimal{value};
}

std::string PlainText(const Decimal& value, std::int32_t scale) {
  std::string digits = AbsoluteDigits(value);
  const auto fraction = static_cast<std::size_t>(std::max(scale, 0));
  if (digits.size() <= fraction) digits.insert(0, fraction - digits.size() + 1, '0');
  if (fraction > 0) digits.insert(digits.size() - fraction, 1, '.');
  if (value.unscaled < 0) digits.insert(0, 1, '-');
  return digits;
}

std::string ScientificText(const Decimal& value, std::int32_t scale) {
  std::string digits = AbsoluteDigits(value);
  const std::int64_t exponent = static_cast<std::int64_t>(digits.size()) - 1 - scale;
  if (scale >= 0 && exponent >= -6) return PlainText(value, scale);
  if (digits.size() > 1) digits.insert(1, 1, '.');
  return fmt::format("{}{}E{:+}", value.unscaled < 0 ? "-" : "", digits, exponent);
}

std::optional<Decimal> ParseDecimal(std::string_view text, std::int32_t scale) {
  const auto exponent = CutExponent(text);
  if (!exponent) return std::nullopt;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  std::string digits;
  std::int64_t fraction = -static_cast<std::int64_t>(*exponent);
  bool point = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      digits += c;
      fraction += point ? 1 : 0;
    } else {
      return std::nullopt;
    }
  }
  if (digits.empty()) return std::nullopt;
  for (; fraction > scale && digits.back() == '0' && digits.size() > 1; --fraction) digits.pop_back();
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  if (digits == "0") return Decimal{};
  if (fraction > scale) return std::nullopt;
  const auto missing = static_cast<std::size_t>(scale - fraction);
  if (digits.size() + missing > kDigitsMax) return std::nullopt;
  digits.append(missing, '0');
  __int128 unscaled = 0;
  for (const char c : digits) unscaled = unscaled * 10 + (c - '0');
  return Decimal{negative ? -unscaled : unscaled};
}

}  // namespace firn::iceberg
