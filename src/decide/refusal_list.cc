// SPDX-License-Identifier: Apache-2.0
#include "decide/refusal_list.h"

#include <fmt/format.h>

#include "base/human_text.h"

namespace firn::decide {

void RefusalList::Add(Refusal refusal) {
  if (lines_.size() < lines_max_) {
    lines_.push_back(std::move(refusal));
    return;
  }
  Rest& rest = rest_[refusal.code];
  ++rest.partitions;
  rest.files += refusal.files;
  rest.bytes += refusal.bytes;
}

std::vector<Refusal> RefusalList::Take() && {
  for (const auto& [code, rest] : rest_) {
    lines_.push_back({"", fmt::format("the same reason in {}", HumanCount(rest.partitions, "more partition")), code,
                      rest.files, rest.bytes, rest.partitions});
  }
  return std::move(lines_);
}

}  // namespace firn::decide
