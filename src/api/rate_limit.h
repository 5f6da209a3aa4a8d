// SPDX-License-Identifier: Apache-2.0
//
// Lets through so many requests a second, of one client and of all together.
//
// In: a client's address and the time. Out: yes or no.
// Guarantees: in any span of t seconds at most burst + rate * t pass, for each client and in all; at most
//   kClientsMax clients are remembered, and one that is forgotten starts with a full bucket; a client that is refused
//   takes nothing from the others' share. A clock that jumps back gives nothing.
// Cost: O(log clients). Threads: one owner, or behind a lock. Source: token bucket.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/rate_bucket.h"

namespace firn::api {

inline constexpr std::size_t kClientsMax = 4'096;

class RateLimit {
 public:
  RateLimit(Rate each, Rate all, std::int64_t now_ms) : each_(each), all_(all, now_ms) {}
  bool Admit(std::string_view client, std::int64_t now_ms);
  std::size_t client_count() const { return clients_.size(); }

 private:
  Rate each_;
  RateBucket all_;
  std::map<std::string, RateBucket, std::less<>> clients_;
};

}  // namespace firn::api
