// SPDX-License-Identifier: Apache-2.0
#include "ports/event_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "ports/event_parse.h"

namespace firn::ports {
namespace {

constexpr std::size_t kNamesMax = 64;

}  // namespace

Result<std::string> CheckedEventText(std::string_view member, std::string_view text) {
  if (text.size() > kEventTextMax) {
    return Error{Code::kInvalidArgument, fmt::format("`{}` is longer than {} bytes", member, kEventTextMax)};
  }
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), control)) {
    return Error{Code::kInvalidArgument, fmt::format("`{}` has a control character", member)};
  }
  return std::string(text);
}

Result<std::string> EventText(const json::Value& object, std::string_view member) {
  const json::Value* value = object.Find(member);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string()) return Error{Code::kInvalidArgument, fmt::format("`{}` is not a string", member)};
  return CheckedEventText(member, *value->AsString());
}

Result<std::vector<std::string>> EventNames(const json::Value& value, std::string_view member) {
  if (!value.is_array() || value.elements().size() > kNamesMax) {
    return Error{Code::kInvalidArgument, fmt::format("`{}` is not an array of at most {} names", member, kNamesMax)};
  }
  std::vector<std::string> names;
  for (const json::Value& element : value.elements()) {
    const std::string* text = element.AsString();
    if (text == nullptr || text->empty()) {
      return Error{Code::kInvalidArgument, fmt::format("`{}` has an element that is not a name", member)};
    }
    FIRN_ASSIGN(std::string name, CheckedEventText(member, *text));
    names.push_back(std::move(name));
  }
  return names;
}

Result<std::vector<std::string>> SplitNames(std::string_view member, std::string_view text, char separator) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const auto end = text.find(separator);
    const std::string_view part = text.substr(0, end);
    if (part.empty() || names.size() == kNamesMax || end == text.size() - 1) {
      return Error{Code::kInvalidArgument, fmt::format("`{}` has an empty name, or too many", member)};
    }
    FIRN_ASSIGN(std::string name, CheckedEventText(member, part));
    names.push_back(std::move(name));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return names;
}

Result<json::Value> ParseEventJson(std::string_view body) {
  auto parsed = json::Parse(body);
  if (!parsed) return Error{Code::kInvalidArgument, "the body is not JSON: " + parsed.error().message};
  return std::move(*parsed);
}

}  // namespace firn::ports
