// SPDX-License-Identifier: Apache-2.0
#include "observe/missing_ref.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/human_text.h"

namespace firn::observe {
namespace {

constexpr std::size_t kNamesMax = 8;

/// "branches a, b and 3 more"; empty for none.
std::string NamesText(const iceberg::TableMetadata& metadata, bool branches) {
  std::vector<std::string> names;
  for (const iceberg::SnapshotRef& ref : metadata.refs()) {
    if (ref.is_branch == branches) names.push_back(ref.name);
  }
  if (names.empty()) return "";
  const std::size_t left_off = names.size() - std::min(names.size(), kNamesMax);
  names.resize(names.size() - left_off);
  std::string text = fmt::format("{} {}", branches ? "branches" : "tags", fmt::join(names, ", "));
  if (left_off > 0) text += fmt::format(" and {} more", HumanCount(static_cast<std::int64_t>(left_off)));
  return text;
}

}  // namespace

Error MissingRef(const iceberg::TableMetadata& metadata, const std::string& ref) {
  const std::string branches = NamesText(metadata, true), tags = NamesText(metadata, false);
  std::string there = branches.empty() ? "none" : branches;
  if (!tags.empty()) there = (branches.empty() ? "" : branches + "; ") + tags;
  return {Code::kNotFound, fmt::format("there is no branch or tag `{}`, there are: {}", ref, there)};
}

}  // namespace firn::observe
