// SPDX-License-Identifier: Apache-2.0
#include "ports/properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/ascii.h"

namespace firn::ports {

const std::string* FindProperty(const Properties& properties, std::string_view key) {
  const auto found = properties.find(key);
  return found == properties.end() ? nullptr : &found->second;
}

const std::string* FindFirstProperty(const Properties& properties, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const std::string* value = FindProperty(properties, key); value && !value->empty()) return value;
  }
  return nullptr;
}

std::string PropertyOr(const Properties& properties, std::string_view key, std::string_view fallback) {
  const std::string* value = FindProperty(properties, key);
  return value ? *value : std::string(fallback);
}

Result<bool> BoolProperty(const Properties& properties, std::string_view key, bool fallback) {
  const std::string* value = FindProperty(properties, key);
  if (!value) return fallback;
  const std::string lower = AsciiLower(*value);
  if (lower == "true" || lower == "1" || lower == "yes" || lower == "on") return true;
  if (lower == "false" || lower == "0" || lower == "no" || lower == "off") return false;
  return Error{Code::kInvalidArgument, fmt::format("property `{}` must be true or false", key)};
}

Result<std::int64_t> IntProperty(const Properties& properties, std::string_view key, std::int64_t fallback,
                                 std::int64_t min, std::int64_t max) {
  const std::string* text = FindProperty(properties, key);
  if (!text) return fallback;
  std::int64_t value = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (fault != std::errc{} || end != text->data() + text->size() || value < min || value > max) {
    return Error{Code::kInvalidArgument,
                 fmt::format("property `{}` must be a whole number from {} to {}", key, min, max)};
  }
  return value;
}

Properties Merged(Properties below, const Properties& above) {
  for (const auto& [key, value] : above) below.insert_or_assign(key, value);
  return below;
}

bool IsSecret(std::string_view key) {
  const std::string lower = AsciiLower(key);
  for (const std::string_view mark :
       {"secret", "token", "credential", "password", "access-key", "account-key", "authorization", "cookie",
        "connection-string", "api-key", "shared-key", "private-key"}) {
    if (lower.find(mark) != std::string::npos) return true;
  }
  return false;
}

std::string WithoutCredentials(std::string_view uri) {
  std::string shown(uri);
  const std::size_t slashes = uri.find("//");
  if (slashes != std::string_view::npos) {
    const std::size_t begin = slashes + 2;
    // SQLAlchemy takes passwords with a slash as they are.
    const bool is_database = uri.starts_with("postgres") || uri.starts_with("jdbc:") || uri.starts_with("mysql");
    const std::size_t end = uri.find_first_of(is_database ? "?#" : "/?#", begin);
    const std::size_t at = uri.substr(0, end).rfind('@');
    if (at != std::string_view::npos && at >= begin)
      shown = fmt::format("{}***{}", uri.substr(0, begin), uri.substr(at));
  }
  for (std::size_t begin = shown.find('?'); begin != std::string::npos; begin = shown.find('&', begin)) {
    const std::size_t equals = shown.find_first_of("=&", ++begin);
    if (equals == std::string::npos || shown[equals] == '&' || !IsSecret(shown.substr(begin, equals - begin))) continue;
    shown.replace(equals + 1, std::min(shown.find('&', equals), shown.size()) - equals - 1, "***");
  }
  return shown;
}

}  // namespace firn::ports
