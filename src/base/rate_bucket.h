// SPDX-License-Identifier: Apache-2.0
//
// Lets through so much a second, and a burst after a pause.
//
// In: the time, and what was taken. Out: whether there is room.
// Guarantees: in any span of t seconds at most burst + rate * t is taken, and what the last one took beyond that; it is
//   waited for. A clock that jumps back gives nothing.
// Cost: O(1). Threads: one owner, or behind a lock. Source: token bucket.
#pragma once

#include <cstdint>

namespace firn {

struct Rate {
  double per_second = 200;
  double burst = 1'000;
};

class RateBucket {
 public:
  RateBucket(Rate rate, std::int64_t now_ms) : rate_(rate), tokens_(rate.burst), last_ms_(now_ms) {}
  bool Has(std::int64_t now_ms);
  void Take(double amount = 1) { tokens_ -= amount; }
  std::int64_t last_ms() const { return last_ms_; }

 private:
  Rate rate_;
  double tokens_;
  std::int64_t last_ms_;
};

}  // namespace firn
