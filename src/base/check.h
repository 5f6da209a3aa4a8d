// SPDX-License-Identifier: Apache-2.0
//
// Stops the program when its own logic is broken.
//
// Guarantees: on in every build. Never reachable by input: bad input is a Result with kCorrupt or
//   kInvalidArgument.
// Threads: any.
#pragma once

namespace firn {
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);
}  // namespace firn

#define FIRN_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::firn::CheckFailed(#condition, __FILE__, __LINE__))
