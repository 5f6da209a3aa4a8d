// SPDX-License-Identifier: Apache-2.0
//
// Values of the state's rows, as SQLite gives them: text, or nothing.
//
// Guarantees: what is missing is empty, what is no number 0. Cost: a move of the text. Threads: pure. Errors: none.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace firn::service {

/// Takes the text out of the row.
inline std::string TextOf(std::optional<std::string>& text) { return text ? std::move(*text) : std::string(); }

inline std::int64_t NumberOf(const std::optional<std::string>& text) {
  std::int64_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

}  // namespace firn::service
