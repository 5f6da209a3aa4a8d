// SPDX-License-Identifier: Apache-2.0
//
// Checks single values of event messages.
//
// Guarantees: no value that passes is longer than kEventTextMax or holds a control character.
// Errors: kInvalidArgument naming the member. Threads: pure. Source: event_parse.h.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "format/json/json.h"

namespace firn::ports {

Result<std::string> CheckedEventText(std::string_view member, std::string_view text);
/// The member's text; empty when it is missing or null; an error when of another kind.
Result<std::string> EventText(const json::Value& object, std::string_view member);
/// An array of names, at most 64.
Result<std::vector<std::string>> EventNames(const json::Value& value, std::string_view member);
/// The text between separators; an empty text has no names.
Result<std::vector<std::string>> SplitNames(std::string_view member, std::string_view text, char separator);
/// kInvalidArgument instead of kCorrupt: the sender must fix it.
Result<json::Value> ParseEventJson(std::string_view body);

}  // namespace firn::ports
