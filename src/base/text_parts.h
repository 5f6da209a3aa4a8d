// SPDX-License-Identifier: Apache-2.0
//
// Takes text apart at separators and blanks.
//
// In: text. Out: parts of the same text, which must live as long as they do; OneLine copies.
// Guarantees: nothing is decoded; a separator is one byte and in no part.
// Cost: one pass. Threads: pure. Errors: none.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace firn {

/// Cuts the part before `separator` off the front of `text`, and the separator with it; all of it if there is none.
std::string_view NextPart(std::string_view& text, char separator);
/// What stands before, between and behind separators: one part more than there are separators, each may be empty.
std::vector<std::string_view> Split(std::string_view text, char separator);
/// Without `blanks` around it.
std::string_view Trimmed(std::string_view text, std::string_view blanks = " \t");
/// For messages: the first `bytes_max` bytes, with a space in place of each control character.
std::string OneLine(std::string_view text, std::size_t bytes_max = std::string_view::npos);

}  // namespace firn
