// SPDX-License-Identifier: Apache-2.0
#include "ports/location.h"

#include <fmt/format.h>

#include "base/ascii.h"

namespace firn::ports {
namespace {

bool IsSchemeText(std::string_view text) {
  if (text.empty()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool other = IsAsciiDigit(c) || c == '+' || c == '-' || c == '.';
    if (!IsAsciiLetter(c) && (i == 0 || !other)) return false;
  }
  return true;
}

/// One spelling for each place, only for comparing.
std::string Canonical(std::string_view location) {
  location = WithoutSlash(location);
  if (const auto path = LocalPathOf(location)) return *path;
  const std::string_view scheme = SchemeOf(location);
  if (scheme == "s3a" || scheme == "s3n") return fmt::format("s3{}", location.substr(scheme.size()));
  return std::string(location);
}

}  // namespace

std::string_view SchemeOf(std::string_view location) {
  const std::size_t colon = location.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view scheme = location.substr(0, colon);
  if (!IsSchemeText(scheme)) return {};
  const bool has_authority = location.substr(colon).starts_with("://");
  const bool is_file = scheme == "file" && location.substr(colon).starts_with(":/");
  return has_authority || is_file ? scheme : std::string_view{};
}

std::optional<std::string> LocalPathOf(std::string_view location) {
  const std::string_view scheme = SchemeOf(location);
  if (scheme.empty()) return location.empty() ? std::nullopt : std::optional(std::string(location));
  if (scheme != "file") return std::nullopt;
  std::string_view rest = location.substr(5);
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    if (rest.starts_with("localhost/")) rest.remove_prefix(9);
  }
  // "file://host/a" names another machine.
  if (!rest.starts_with('/')) return std::nullopt;
  return std::string(rest);
}

int ReadersOf(std::string_view location) { return LocalPathOf(location) ? 2 : 8; }

std::string_view FileNameOf(std::string_view location) {
  const std::size_t slash = location.rfind('/');
  return slash == std::string_view::npos ? location : location.substr(slash + 1);
}

std::string_view ParentOf(std::string_view location) {
  const std::size_t slash = location.rfind('/');
  if (slash == std::string_view::npos) return {};
  return location.substr(0, slash == 0 ? 1 : slash);
}

std::string AsPrefix(std::string_view location) {
  return location.ends_with('/') ? std::string(location) : fmt::format("{}/", location);
}

std::string_view WithoutSlash(std::string_view location) {
  while (location.size() > 1 && location.ends_with('/')) location.remove_suffix(1);
  return location;
}

std::string Join(std::string_view parent, std::string_view name) {
  return parent.ends_with('/') ? fmt::format("{}{}", parent, name) : fmt::format("{}/{}", parent, name);
}

bool SamePlace(std::string_view a, std::string_view b) { return Canonical(a) == Canonical(b); }

}  // namespace firn::ports
