// SPDX-License-Identifier: Apache-2.0
#include "ports/dotted_name.h"

#include <fmt/format.h>

namespace firn::ports {
namespace {

constexpr char kMark = '"';

Error Wrong(std::string_view text) {
  return {Code::kInvalidArgument,
          fmt::format("`{}` is no name: write its parts with dots between them, none empty, and a part that has a dot "
                      "in quotation marks",
                      text)};
}

/// The level between the marks that `text` begins with; takes it and both marks away.
Result<std::string> TakeQuoted(std::string_view& text, std::string_view whole) {
  std::string level;
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == kMark && (at + 1 == text.size() || text[at + 1] != kMark)) {
      text.remove_prefix(at + 1);
      return level;
    }
    at += text[at] == kMark ? 1 : 0;
    level += text[at];
  }
  return Wrong(whole);
}

}  // namespace

std::string DottedName(std::span<const std::string> levels) {
  std::string text;
  for (const std::string& level : levels) {
    if (&level != &levels.front()) text += '.';
    if (level.find_first_of(".\"") == std::string::npos) {
      text += level;
      continue;
    }
    text += kMark;
    for (const char c : level) text.append(c == kMark ? 2 : 1, c);
    text += kMark;
  }
  return text;
}

Result<std::vector<std::string>> SplitDottedName(std::string_view text) {
  std::vector<std::string> levels;
  for (std::string_view rest = text;;) {
    if (rest.starts_with(kMark)) {
      FIRN_ASSIGN(levels.emplace_back(), TakeQuoted(rest, text));
      if (!rest.empty() && rest.front() != '.') return Wrong(text);
    } else {
      levels.emplace_back(rest.substr(0, rest.find('.')));
      rest.remove_prefix(levels.back().size());
    }
    if (levels.back().empty()) return Wrong(text);
    if (rest.empty()) return levels;
    rest.remove_prefix(1);
  }
}

}  // namespace firn::ports
