// SPDX-License-Identifier: Apache-2.0
//
// How often a question or a request that may be sent again is sent, and the pauses between.
//
// In: a clock, the policy. Out: whether to send, now.
// Guarantees: at most `count` tries; each pause is twice the one before. The caller says what is worth another try:
//   nothing is ever sent again by itself.
// Cost: waits in Next. Threads: one owner. Errors: none.
// Source: RFC 9110, 15.5.9 and 15.6; RFC 6585, 4 (which answers are not the last word).
#pragma once

#include <cstdint>

#include "ports/clock.h"

namespace firn::ports {

struct TryPolicy {
  int count = 4;
  std::int64_t first_pause_ms = 100;
};

class Tries {
 public:
  /// `clock` must live longer.
  explicit Tries(Clock& clock, TryPolicy policy = {})
      : clock_(clock), left_(policy.count), pause_ms_(policy.first_pause_ms) {}

  /// Waits before every try but the first; false when all were had.
  bool Next() {
    if (left_-- <= 0) return false;
    if (is_begun_) {
      clock_.SleepMs(pause_ms_);
      pause_ms_ *= 2;
    }
    return is_begun_ = true;
  }

 private:
  Clock& clock_;
  int left_;
  std::int64_t pause_ms_;
  bool is_begun_ = false;
};

/// Whether the same request may be answered otherwise a little later; and it may have been done all the same.
constexpr bool IsPassingTrouble(int http_status) {
  return http_status >= 500 || http_status == 408 || http_status == 429;
}

}  // namespace firn::ports
