// SPDX-License-Identifier: Apache-2.0
#include "decide/circuit_breaker.h"

#include <algorithm>
#include <array>

#include "decide/budget.h"
#include "iceberg/utf8.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kFailedWaitMs = 60'000;
constexpr std::int64_t kDidNotPayWaitMs = 600'000;
constexpr std::int32_t kDoublingsMax = 20;
constexpr std::size_t kReasonBytesMax = 500;

/// At most so many bytes, ending with a whole character.
std::string Shortened(std::string_view text) {
  if (text.size() <= kReasonBytesMax) return std::string(text);
  std::size_t end = 0;
  while (true) {
    const auto point = iceberg::CodePointAt(text, end);
    const std::size_t next = end + (point ? point->size_bytes : 1);
    if (next > kReasonBytesMax) return std::string(text.substr(0, end));
    end = next;
  }
}

}  // namespace

std::string_view BreakerStateName(BreakerState state) {
  static constexpr std::array<std::string_view, 3> kNames = {"closed", "open", "half-open"};
  return kNames[static_cast<std::size_t>(state)];
}

OutcomeKind Judge(const Effect& predicted, const Effect& measured) {
  if (static_cast<double>(OpensSaved(measured)) < kPayingPart * static_cast<double>(OpensSaved(predicted))) {
    return OutcomeKind::kDidNotPay;
  }
  const bool costly = measured.seconds >= kCostlySeconds && measured.seconds > kCostlyTimes * predicted.seconds;
  return costly ? OutcomeKind::kDidNotPay : OutcomeKind::kPaid;
}

void CircuitBreaker::Record(OutcomeKind outcome, std::string_view why, TimestampMs now) {
  if (outcome == OutcomeKind::kNobodyHurt) return;
  if (outcome == OutcomeKind::kPaid) return Close();
  const std::int64_t base = outcome == OutcomeKind::kFailed ? kFailedWaitMs : kDidNotPayWaitMs;
  const std::int32_t doublings = std::min(bad_in_a_row, kDoublingsMax);
  if (bad_in_a_row < INT32_MAX) ++bad_in_a_row;
  wait_ms = std::min(base << doublings, kLookAgainMs);
  opened_at = now;
  reason = Shortened(why);
}

void CircuitBreaker::Close() { *this = {}; }

BreakerState CircuitBreaker::State(TimestampMs now) {
  if (wait_ms <= 0) return BreakerState::kClosed;
  // The clock went back: the wait counts from here, not from a time that may be years ahead.
  if (now < opened_at) opened_at = now;
  wait_ms = std::min(wait_ms, kLookAgainMs);
  return now.value - wait_ms < opened_at.value ? BreakerState::kOpen : BreakerState::kHalfOpen;
}

}  // namespace firn::decide
