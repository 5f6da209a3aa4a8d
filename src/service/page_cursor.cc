// SPDX-License-Identifier: Apache-2.0
#include "service/page_cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace firn::service {

std::string CursorOf(const Place& place) { return fmt::format("{}|{}|{}", place.first, place.second, place.name); }

Result<Place> ParseCursor(std::string_view cursor) {
  Place place;
  for (double* number : std::array{&place.first, &place.second}) {
    const auto bar = cursor.find('|');
    const char* end = cursor.data() + std::min(bar, cursor.size());
    const auto read = std::from_chars(cursor.data(), end, *number);
    if (bar == std::string_view::npos || read.ec != std::errc() || read.ptr != end) {
      return Error{Code::kInvalidArgument, "`after` is not the `next` of an answer"};
    }
    cursor.remove_prefix(bar + 1);
  }
  place.name = cursor;
  return place;
}

Status CheckIdCursor(std::string_view cursor) {
  constexpr std::size_t kUuidBytes = 36;
  const bool is_plain = cursor.find_first_not_of("0123456789abcdef-") == std::string_view::npos;
  if (cursor.empty() || (cursor.size() == kUuidBytes && is_plain)) return Ok();
  return Error{Code::kInvalidArgument, "`after` is not the `next` of an answer"};
}

}  // namespace firn::service
