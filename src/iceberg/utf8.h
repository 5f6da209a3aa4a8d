// SPDX-License-Identifier: Apache-2.0
//
// Code points in UTF-8 text.
//
// Guarantees: refuses overlong forms, surrogates and values above U+10FFFF; never reads past the end.
// Threads: pure. Source: RFC 3629.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace firn::iceberg {

inline constexpr char32_t kCodePointMax = 0x10FFFF;

struct CodePoint {
  char32_t value = 0;
  std::size_t size_bytes = 0;
};

/// The code point at `offset` (inside of `text`); nullopt when the bytes there are not UTF-8.
std::optional<CodePoint> CodePointAt(std::string_view text, std::size_t offset);
void AppendCodePoint(char32_t value, std::string& text);

/// Bytes of the first `count` code points, or of the whole text if it has fewer. Counts every byte that does not
/// continue a character, so it is defined for broken text too.
std::size_t PrefixBytes(std::string_view text, std::int32_t count);

}  // namespace firn::iceberg
