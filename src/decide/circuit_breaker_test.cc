// SPDX-License-Identifier: Apache-2.0
#include "decide/circuit_breaker.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "decide/budget.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kMinuteMs = 60'000, kHourMs = 60 * kMinuteMs;
constexpr TimestampMs kStart{1'700'000'000'000};

TimestampMs After(std::int64_t ms, TimestampMs time = kStart) { return {time.value + ms}; }

TEST(CircuitBreaker, EachFailureInARow_DoublesTheWait) {
  CircuitBreaker breaker;
  EXPECT_EQ(breaker.State(kStart), BreakerState::kClosed);
  TimestampMs now = kStart;
  for (const std::int64_t minutes : {1, 2, 4, 8, 16}) {
    EXPECT_FALSE(breaker.is_failing());
    breaker.Record(OutcomeKind::kFailed, "no such bucket", now);
    EXPECT_EQ(breaker.State(After(minutes * kMinuteMs - 1, now)), BreakerState::kOpen);
    EXPECT_EQ(breaker.State(After(minutes * kMinuteMs, now)), BreakerState::kHalfOpen);
    EXPECT_EQ(breaker.RetryAt(), After(minutes * kMinuteMs, now));
    now = breaker.RetryAt();
  }
  EXPECT_TRUE(breaker.is_failing());
  EXPECT_EQ(breaker.reason, "no such bucket");
  for (int i = 0; i < 100; ++i) breaker.Record(OutcomeKind::kFailed, "x", now);
  EXPECT_EQ(breaker.wait_ms, kLookAgainMs);
}

TEST(CircuitBreaker, AProbeDecides) {
  CircuitBreaker breaker;
  breaker.Record(OutcomeKind::kDidNotPay, "1 of 10 files went away", kStart);
  EXPECT_EQ(breaker.State(After(10 * kMinuteMs - 1)), BreakerState::kOpen);
  ASSERT_EQ(breaker.State(After(10 * kMinuteMs)), BreakerState::kHalfOpen);
  CircuitBreaker bad = breaker;
  bad.Record(OutcomeKind::kDidNotPay, "again", After(10 * kMinuteMs));
  EXPECT_EQ(bad.RetryAt(), After(30 * kMinuteMs));
  breaker.Record(OutcomeKind::kNobodyHurt, "cancelled", After(10 * kMinuteMs));
  EXPECT_EQ(breaker.State(After(10 * kMinuteMs)), BreakerState::kHalfOpen) << "a cancelled probe decides nothing";
  breaker.Record(OutcomeKind::kPaid, "", After(10 * kMinuteMs));
  EXPECT_EQ(breaker, CircuitBreaker{});
}

TEST(CircuitBreaker, ClockThatGoesBack_DoesNotFreeze) {
  CircuitBreaker breaker;
  breaker.Record(OutcomeKind::kFailed, "x", kStart);
  const TimestampMs earlier = After(-1'000'000 * kHourMs);
  EXPECT_EQ(breaker.State(earlier), BreakerState::kOpen);
  EXPECT_EQ(breaker.RetryAt(), After(kMinuteMs, earlier));
  EXPECT_EQ(breaker.State(After(kMinuteMs, earlier)), BreakerState::kHalfOpen);
  breaker.wait_ms = INT64_MAX;  // damaged state
  EXPECT_EQ(breaker.State(After(kMinuteMs + kLookAgainMs, earlier)), BreakerState::kHalfOpen);
}

TEST(CircuitBreaker, LongReasonsAreCut) {
  CircuitBreaker breaker;
  std::string reason;
  for (int i = 0; i < 1000; ++i) reason += "é";
  breaker.Record(OutcomeKind::kFailed, reason, kStart);
  EXPECT_EQ(breaker.reason, reason.substr(0, 500));
  breaker.Record(OutcomeKind::kFailed, "x" + reason, kStart);
  EXPECT_EQ(breaker.reason.size(), 499U) << "no half character";
}

/// Random outcomes and clock jumps: the breaker always lets something through within its bound.
TEST(CircuitBreaker, RandomOutcomes_NeverFreeze) {
  Random random(7);
  CircuitBreaker breaker;
  TimestampMs now = kStart;
  for (int i = 0; i < 10'000; ++i) {
    breaker.Record(static_cast<OutcomeKind>(random.Below(4)), "x", now);
    if (random.Below(5) == 0) now = TimestampMs{static_cast<std::int64_t>(random.Below(std::uint64_t{1} << 50))};
    const BreakerState state = breaker.State(now);
    if (state == BreakerState::kOpen) {
      EXPECT_GT(breaker.RetryAt(), now);
      EXPECT_LE(breaker.RetryAt().value - now.value, kLookAgainMs);
      now = breaker.RetryAt();
      EXPECT_EQ(breaker.State(now), BreakerState::kHalfOpen);
    }
  }
}

TEST(Judge, ComparesWithThePrediction) {
  const Effect predicted{.files_removed = 90, .delete_files_removed = 10, .seconds = 1};
  EXPECT_EQ(Judge(predicted, {.files_removed = 25, .seconds = 1}), OutcomeKind::kPaid);
  EXPECT_EQ(Judge(predicted, {.files_removed = 24, .seconds = 1}), OutcomeKind::kDidNotPay);
  EXPECT_EQ(Judge(predicted, {.files_removed = 90, .seconds = 16}), OutcomeKind::kPaid);
  EXPECT_EQ(Judge(predicted, {.files_removed = 90, .seconds = 17}), OutcomeKind::kDidNotPay);
  EXPECT_EQ(Judge({.files_removed = 9, .seconds = 0.01}, {.files_removed = 9, .seconds = 5}), OutcomeKind::kPaid)
      << "a few seconds hurt nobody";
  EXPECT_EQ(Judge({}, {}), OutcomeKind::kPaid);
}

}  // namespace
}  // namespace firn::decide
