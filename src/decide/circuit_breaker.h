// SPDX-License-Identifier: Apache-2.0
//
// Keeps a table whose work fails, or does not pay, from being worked on again and again.
//
// In: outcomes. Out: whether work may start, until when not, and why not.
// Guarantees: each bad outcome in a row doubles the wait, up to kLookAgainMs; after it, one job is let through to
//   see (half-open): a good one closes the breaker, a bad one opens it for twice as long. A clock that goes back does
//   not lengthen a wait, one that jumps ahead ends it at most. Only the last reason is kept, cut to 500 bytes.
// Cost: O(1). Threads: value type. Source: Nygard, Release It!, "Circuit Breaker".
#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "decide/effect.h"

namespace firn::decide {

enum class OutcomeKind {
  kPaid,        // worth what it cost
  kDidNotPay,   // done, but much less came of it than predicted
  kFailed,      // ended without a change
  kNobodyHurt,  // cancelled, or overtaken by another writer: says nothing about the table
};

enum class BreakerState { kClosed, kOpen, kHalfOpen };
/// "closed", "open", "half-open".
std::string_view BreakerStateName(BreakerState state);

/// What came of work: kDidNotPay when less than kPayingPart of the predicted opens of files are saved (OpensSaved),
/// or it took more than kCostlyTimes the predicted seconds and at least kCostlySeconds.
inline constexpr double kPayingPart = 0.25, kCostlyTimes = 16, kCostlySeconds = 10;
OutcomeKind Judge(const Effect& predicted, const Effect& measured);

struct CircuitBreaker {
  std::int32_t bad_in_a_row = 0;
  TimestampMs opened_at;
  std::int64_t wait_ms = 0;  // 0: closed
  std::string reason;

  /// Waits: kFailed 1 min, 2 min, 4 min, ...; kDidNotPay 10 min, 20 min, ...; `why` is a part of a sentence.
  void Record(OutcomeKind outcome, std::string_view why, TimestampMs now);
  /// After a person has looked at it.
  void Close();
  BreakerState State(TimestampMs now);
  /// When one job is let through. Call State first.
  TimestampMs RetryAt() const { return {opened_at.value + wait_ms}; }
  /// "failing": at least kFailingAfter bad outcomes in a row.
  static constexpr std::int32_t kFailingAfter = 5;
  bool is_failing() const { return bad_in_a_row >= kFailingAfter; }

  friend bool operator==(const CircuitBreaker&, const CircuitBreaker&) = default;
};

}  // namespace firn::decide
