// SPDX-License-Identifier: Apache-2.0
#include "iceberg/utf8.h"

namespace firn::iceberg {
namespace {

bool Continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Bytes that a first byte announces; 0 for a byte that starts nothing.
std::size_t AnnouncedSize(unsigned char first) {
  if (first < 0x80) return 1;
  if (first < 0xC2) return 0;
  if (first < 0xE0) return 2;
  if (first < 0xF0) return 3;
  return first < 0xF5 ? 4 : 0;
}

}  // namespace

std::optional<CodePoint> CodePointAt(std::string_view text, std::size_t offset) {
  const auto first = static_cast<unsigned char>(text[offset]);
  const std::size_t size = AnnouncedSize(first);
  if (size == 0 || text.size() - offset < size) return std::nullopt;
  if (size == 1) return CodePoint{first, 1};
  char32_t value = first & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (!Continues(text[offset + i])) return std::nullopt;
    value = value << 6 | (static_cast<unsigned char>(text[offset + i]) & 0x3Fu);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kSmallest[size] || value > kCodePointMax || (value >= 0xD800 && value <= 0xDFFF)) return std::nullopt;
  return CodePoint{value, size};
}

void AppendCodePoint(char32_t value, std::string& text) {
  const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | value >> 6);
    put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | value >> 12);
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | value >> 18);
    put(0x80 | (value >> 12 & 0x3F));
    put(0x80 | (value >> 6 & 0x3F));
    put(0x80 | (value & 0x3F));
  }
}

std::size_t PrefixBytes(std::string_view text, std::int32_t count) {
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (Continues(text[i])) continue;
    if (seen == count) return i;
    ++seen;
  }
  return text.size();
}

}  // namespace firn::iceberg
