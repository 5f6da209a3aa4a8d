// SPDX-License-Identifier: Apache-2.0
#include "service/name_glob.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text_parts.h"
#include "ports/dotted_name.h"

namespace firn::service {
namespace {

constexpr std::string_view kAnyLevels = "**";

/// Where marks do not close, they stand for themselves.
std::vector<std::string> Levels(std::string_view text) {
  if (text.find('"') != text.npos) {
    if (auto levels = ports::SplitDottedName(text)) return std::move(*levels);
  }
  std::vector<std::string> levels;
  for (const std::string_view level : Split(text, '.')) levels.emplace_back(level);
  return levels;
}

/// Wildcards over a sequence: goes back to the last star only, which is enough because an earlier star could take no
/// more than the later one can.
template <class Pattern, class Sequence, class IsStar, class Fits>
bool MatchesSequence(const Pattern& pattern, const Sequence& sequence, IsStar is_star, Fits fits) {
  std::size_t p = 0, s = 0;
  std::optional<std::size_t> star;
  std::size_t star_end = 0;
  while (s < sequence.size()) {
    if (p < pattern.size() && is_star(pattern[p])) {
      star = p++;
      star_end = s;
    } else if (p < pattern.size() && fits(pattern[p], sequence[s])) {
      ++p;
      ++s;
    } else if (star) {
      p = *star + 1;
      s = ++star_end;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && is_star(pattern[p])) ++p;
  return p == pattern.size();
}

bool LevelFits(std::string_view pattern, std::string_view level) {
  return MatchesSequence(
      pattern, level, [](char c) { return c == '*'; }, [](char p, char c) { return p == '?' || p == c; });
}

}  // namespace

Result<NameGlob> NameGlob::Parse(std::string_view pattern) {
  NameGlob glob;
  for (const std::string& level : Levels(pattern)) {
    if (level.empty()) return Error{Code::kInvalidArgument, fmt::format("pattern \"{}\" has an empty level", pattern)};
    if (level.find(kAnyLevels) != level.npos && level != kAnyLevels) {
      return Error{Code::kInvalidArgument, fmt::format("pattern \"{}\": `**` stands for whole levels", pattern)};
    }
    glob.levels_.emplace_back(level);
  }
  return glob;
}

bool NameGlob::Matches(std::string_view name) const {
  return MatchesSequence(
      levels_, Levels(name), [](const std::string& level) { return level == kAnyLevels; },
      [](const std::string& pattern, std::string_view level) { return LevelFits(pattern, level); });
}

bool NameGlob::CanFit(std::size_t levels_min) const {
  const auto is_any = [](const std::string& level) { return level == kAnyLevels; };
  return levels_.size() >= levels_min || std::ranges::any_of(levels_, is_any);
}

std::string DottedName(std::string_view id) {
  std::string name(id);
  if (const std::size_t slash = name.find('/'); slash != name.npos) name[slash] = '.';
  return name;
}

}  // namespace firn::service
