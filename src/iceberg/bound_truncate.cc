// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "iceberg/literal.h"
#include "iceberg/utf8.h"

namespace firn::iceberg {
namespace {

/// The next scalar value; nullopt after the last.
std::optional<char32_t> Increment(char32_t value) {
  if (value == kCodePointMax) return std::nullopt;
  return value == 0xD7FF ? char32_t{0xE000} : value + 1;
}

/// The shortest text of at most `prefix.size()` bytes of code points that sorts after everything with `prefix`.
std::optional<std::string> TextAfter(std::string_view prefix) {
  std::vector<CodePoint> points;
  for (std::size_t offset = 0; offset < prefix.size();) {
    const auto point = CodePointAt(prefix, offset);
    if (!point) return std::nullopt;  // broken text has no next character: no bound is a right bound
    points.push_back(*point);
    offset += point->size_bytes;
  }
  std::size_t end = prefix.size();
  for (; !points.empty(); points.pop_back()) {
    end -= points.back().size_bytes;
    if (const auto next = Increment(points.back().value)) {
      std::string bound(prefix.substr(0, end));
      AppendCodePoint(*next, bound);
      return bound;
    }
  }
  return std::nullopt;
}

std::optional<Bytes> BytesAfter(Bytes prefix) {
  while (!prefix.empty() && prefix.back() == 0xff) prefix.pop_back();
  if (prefix.empty()) return std::nullopt;
  ++prefix.back();
  return prefix;
}

bool IsCut(const Type& type) {
  return type.kind == TypeKind::kString || type.kind == TypeKind::kBinary || type.kind == TypeKind::kFixed;
}

}  // namespace

std::optional<Literal> TruncateLower(const Type& type, const Literal& value, std::int32_t length) {
  if (!IsCut(type)) return value;
  if (length <= 0) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&value)) {
    return Literal(text->substr(0, PrefixBytes(*text, length)));
  }
  const auto* bytes = std::get_if<Bytes>(&value);
  if (bytes == nullptr || bytes->size() <= static_cast<std::size_t>(length)) return value;
  return Literal(Bytes(bytes->begin(), bytes->begin() + length));
}

std::optional<Literal> TruncateUpper(const Type& type, const Literal& value, std::int32_t length) {
  if (!IsCut(type)) return value;
  if (length <= 0) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&value)) {
    const std::size_t cut = PrefixBytes(*text, length);
    if (cut == text->size()) return value;
    auto bound = TextAfter(std::string_view(*text).substr(0, cut));
    if (!bound) return std::nullopt;
    return Literal(std::move(*bound));
  }
  const auto* bytes = std::get_if<Bytes>(&value);
  if (bytes == nullptr || bytes->size() <= static_cast<std::size_t>(length)) return value;
  auto bound = BytesAfter(Bytes(bytes->begin(), bytes->begin() + length));
  if (!bound) return std::nullopt;
  return Literal(std::move(*bound));
}

}  // namespace firn::iceberg
