// SPDX-License-Identifier: Apache-2.0
//
// Names the place of a row in a list that is in the order of two numbers and then of a name.
//
// In: a place; the text of a cursor. Out: the text; the place.
// Guarantees: reading gives bit by bit what was written, whatever bytes the name has.
// Threads: pure. Errors: kInvalidArgument for text that no cursor has.
#pragma once

#include <compare>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firn::service {

struct Place {
  double first = 0;
  double second = 0;
  std::string name = {};
  auto operator<=>(const Place&) const = default;
};

std::string CursorOf(const Place& place);
Result<Place> ParseCursor(std::string_view cursor);
/// Of a list that is in the order of ids, which are UUIDs. Empty: the first page.
Status CheckIdCursor(std::string_view cursor);

}  // namespace firn::service
