// SPDX-License-Identifier: Apache-2.0
//
// Feeds indices of the output's dictionary that are known already.
//
// In: an index a value that is not null, all inside the dictionary. Out: dictionary indices.
// Guarantees: as many as the list has, in its order.
// Cost: a copy.
// Errors: kCorrupt when more values are asked for.
// Threads: one owner.
#pragma once

#include <cstdint>
#include <span>

#include "splice/page_values.h"

namespace firn::splice {

class ListedFeed final : public ValueFeed {
 public:
  /// `indices` must stay alive.
  void Open(std::span<const std::uint32_t> indices) { left_ = indices; }
  Status Take(std::size_t count, PageValues& out) override {
    if (count > left_.size()) return Error{Code::kCorrupt, "fewer values than the levels tell of"};
    out.indices().Append(left_.data(), count);
    left_ = left_.subspan(count);
    return Ok();
  }
  Status Skip(std::size_t count) override {
    if (count > left_.size()) return Error{Code::kCorrupt, "fewer values than the levels tell of"};
    left_ = left_.subspan(count);
    return Ok();
  }
  std::size_t StepMax() const override { return std::size_t{1} << 14; }
  bool AtEnd() const override { return left_.empty(); }

 private:
  std::span<const std::uint32_t> left_;
};

}  // namespace firn::splice
