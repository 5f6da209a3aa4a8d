// SPDX-License-Identifier: Apache-2.0
//
// Letters and digits of ASCII, whatever the locale.
//
// Guarantees: bytes of other characters are no letters and never change. Cost: at most one copy. Threads: pure.
// Errors: none.
#pragma once

#include <string>
#include <string_view>

namespace firn {

constexpr bool IsAsciiDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsAsciiLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool IsAsciiAlphanumeric(char c) { return IsAsciiLetter(c) || IsAsciiDigit(c); }

/// A to Z become a to z; other bytes stay.
inline std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

/// a to z become A to Z; other bytes stay.
inline std::string AsciiUpper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return upper;
}

}  // namespace firn
