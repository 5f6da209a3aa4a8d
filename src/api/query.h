// SPDX-License-Identifier: Apache-2.0
//
// Reads the query of a request: names that the resource knows, each once.
//
// Guarantees: an unknown or repeated name, a broken escape, or a limit outside 1 to kPageItemsMax is an error, never
//   silence.
// Errors: kInvalidArgument naming the parameter. Threads: value type. Source: docs/api.md.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "service/fleet_view.h"

namespace firn::api {

class Query {
 public:
  /// `limit` and `after` are always known to a list: name them where they are.
  static Result<Query> Parse(std::string_view text, const std::vector<std::string_view>& known);
  /// Empty where it is not there.
  std::string Text(std::string_view name) const;
  Result<service::PageOf> Page() const;

 private:
  std::vector<std::pair<std::string, std::string>> fields_;
};

}  // namespace firn::api
