// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with settings, and which keys it is about, so that whoever knows where they were set can say so.
//
// Guarantees: `text` says what is wrong without `keys`. Threads: value type. Source: docs/deciding.md.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace firn::orient {

struct PolicyFault {
  std::vector<std::string> keys;  // with "firn." in front, as table properties have it
  std::string text;

  /// kInvalidArgument.
  Error ToError() && { return {Code::kInvalidArgument, std::move(text)}; }
};

}  // namespace firn::orient
