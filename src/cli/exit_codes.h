// SPDX-License-Identifier: Apache-2.0
//
// Maps what happened to the number that the program ends with.
//
// Guarantees: one table; docs/errors.md shows the same (a test compares them). Numbers never change their meaning.
// Threads: constants.
#pragma once

#include <span>
#include <string_view>

#include "base/result.h"

namespace firn::cli {

struct ExitCode {
  int number = 0;
  std::string_view name;     // of the Code without its k, or a word
  std::string_view meaning;  // one sentence
};

inline constexpr int kExitOk = 0;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitPartlyDone = 11;

int ExitNumber(Code code);
/// All of them, by number.
std::span<const ExitCode> ExitCodes();

}  // namespace firn::cli
