// SPDX-License-Identifier: Apache-2.0
#include "api/query.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/byte_text.h"
#include "base/text_parts.h"

namespace firn::api {
namespace {

Error Invalid(std::string message) { return {Code::kInvalidArgument, std::move(message)}; }

}  // namespace

Result<Query> Query::Parse(std::string_view text, const std::vector<std::string_view>& known) {
  Query query;
  while (!text.empty()) {
    const std::string_view field = NextPart(text, '&');
    if (field.empty()) continue;
    const auto equal = field.find('=');
    const auto name = PercentDecoded(field.substr(0, equal), /*plus_is_space=*/true);
    const auto value =
        PercentDecoded(equal == std::string_view::npos ? "" : field.substr(equal + 1), /*plus_is_space=*/true);
    if (!name || !value) return Invalid("the query has a broken escape");
    if (std::find(known.begin(), known.end(), *name) == known.end()) {
      return Invalid(fmt::format("`{}` is not a parameter of this resource", name->substr(0, 64)));
    }
    const bool twice =
        std::any_of(query.fields_.begin(), query.fields_.end(), [&](const auto& f) { return f.first == *name; });
    if (twice) return Invalid(fmt::format("`{}` is there twice", *name));
    query.fields_.emplace_back(*name, *value);
  }
  return query;
}

std::string Query::Text(std::string_view name) const {
  for (const auto& [field, value] : fields_) {
    if (field == name) return value;
  }
  return "";
}

Result<service::PageOf> Query::Page() const {
  service::PageOf page{.after = Text("after")};
  const std::string limit = Text("limit");
  if (limit.empty()) return page;
  const auto read = std::from_chars(limit.data(), limit.data() + limit.size(), page.limit);
  if (read.ec != std::errc() || read.ptr != limit.data() + limit.size() || page.limit < 1 ||
      page.limit > service::kPageItemsMax) {
    return Invalid(fmt::format("`limit` is not a number from 1 to {}", service::kPageItemsMax));
  }
  return page;
}

}  // namespace firn::api
