// SPDX-License-Identifier: Apache-2.0
//
// Collects why files are left alone: one line a partition and code, and from a limit on one line a code.
//
// Guarantees: the counts of all lines together are those of all Add calls. Bounded by the limit and the number of
// codes. Threads: one owner.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "decide/plan.h"

namespace firn::decide {

class RefusalList {
 public:
  explicit RefusalList(std::size_t lines_max) : lines_max_(lines_max) {}
  void Add(Refusal refusal);
  /// Lines in the order in which they came, then those for the rest.
  std::vector<Refusal> Take() &&;

 private:
  struct Rest {
    std::int64_t partitions = 0, files = 0, bytes = 0;
  };
  std::size_t lines_max_;
  std::vector<Refusal> lines_;
  std::map<std::string, Rest> rest_;
};

}  // namespace firn::decide
