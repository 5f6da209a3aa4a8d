// SPDX-License-Identifier: Apache-2.0
//
// Letters of ASCII, whatever the locale.
//
// Guarantees: only A to Z change. Cost: one copy. Threads: pure. Errors: none.
#pragma once

#include <string>
#include <string_view>

namespace firn {

/// A to Z become a to z; other bytes stay.
inline std::string AsciiLower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace firn
