// SPDX-License-Identifier: Apache-2.0
#include "decide/budget.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace firn::decide {
namespace {

constexpr std::int64_t kHourMs = 3'600'000;
constexpr TimestampMs kStart{1'700'000'000'000};

TimestampMs After(std::int64_t ms, TimestampMs time = kStart) { return {time.value + ms}; }

TEST(TokenBucket, IsOpenWhileAnythingIsInIt) {
  TokenBucket bucket(100, kStart);
  EXPECT_TRUE(bucket.is_open());
  bucket.Take(99);
  EXPECT_TRUE(bucket.is_open());
  bucket.Take(51);
  EXPECT_FALSE(bucket.is_open());
  EXPECT_EQ(bucket.OpensAt(), After(kHourMs / 2 + 1));
  bucket.Advance(After(kHourMs / 2));
  EXPECT_FALSE(bucket.is_open());
  bucket.Advance(After(kHourMs / 2 + 1));
  EXPECT_TRUE(bucket.is_open());
}

TEST(TokenBucket, HoldsAnHour_OwesADay) {
  TokenBucket bucket(100, kStart);
  bucket.Advance(After(50 * kHourMs));
  EXPECT_DOUBLE_EQ(bucket.level(), 100);
  bucket.Take(1e300);
  EXPECT_DOUBLE_EQ(bucket.level(), -100 * kDebtHours);
  EXPECT_EQ(bucket.OpensAt(), After(50 * kHourMs + kLookAgainMs));
  bucket.Take(-1e300);
  EXPECT_DOUBLE_EQ(bucket.level(), 100);
  bucket.Take(std::nan(""));
  EXPECT_DOUBLE_EQ(bucket.level(), 100);
}

TEST(TokenBucket, ClockThatGoesBack_IsFollowed) {
  TokenBucket bucket(100, kStart);
  bucket.Take(150);
  const std::int64_t year = std::int64_t{365} * 24 * kHourMs;
  bucket.Advance(After(-10 * year));
  EXPECT_FALSE(bucket.is_open()) << "nothing is given";
  bucket.Advance(After(-10 * year + kHourMs / 2 + 1));
  EXPECT_TRUE(bucket.is_open()) << "and nothing is lost";
}

TEST(TokenBucket, ClockThatJumpsAhead_FillsAnHourAtMost) {
  TokenBucket bucket(100, kStart);
  bucket.Take(1'000);
  bucket.Advance(TimestampMs{INT64_MAX});
  EXPECT_DOUBLE_EQ(bucket.level(), -800);
  bucket.Advance(TimestampMs{INT64_MIN});
  EXPECT_DOUBLE_EQ(bucket.level(), -800);
}

/// Whatever the sizes, what starts in a time is at most an hour's amount, the refill, and the one that overdraws.
TEST(TokenBucket, RandomWork_StaysWithinTheRate) {
  Random random(3);
  for (int round = 0; round < 50; ++round) {
    const double per_hour = 10 + static_cast<double>(random.Below(1000));
    const double largest = per_hour * (0.01 + 5 * random.NextUnit());
    TokenBucket bucket(per_hour, kStart);
    TimestampMs now = kStart;
    double taken = 0;
    for (int i = 0; i < 2'000; ++i) {
      now = After(static_cast<std::int64_t>(random.Below(kHourMs / 10)), now);
      bucket.Advance(now);
      if (!bucket.is_open()) continue;
      const double amount = largest * random.NextUnit();
      bucket.Take(amount);
      taken += amount;
    }
    const double hours = static_cast<double>(now.value - kStart.value) / kHourMs;
    EXPECT_LE(taken, per_hour * (hours + 1) + largest);
    if (largest > per_hour / 2) {
      EXPECT_GE(taken, per_hour * hours * 0.8) << "nor is much of it lost";
    }
  }
}

TEST(BudgetAccount, NothingSet_LimitsNothing) {
  BudgetAccount account;
  account.Charge({.bytes = INT64_MAX, .seconds = 1e9});
  EXPECT_EQ(account.shortage(), BudgetShortage::kNone);
}

TEST(BudgetAccount, SettlesWithWhatItHasCost) {
  BudgetAccount account;
  account.SetLimits({.bytes_per_hour = 1000, .worker_seconds_per_hour = 100}, kStart);
  const Effect predicted{.bytes = 500, .seconds = 150};
  account.Charge(predicted);
  EXPECT_EQ(account.shortage(), BudgetShortage::kSeconds);
  account.Settle(predicted, {.bytes = 1500, .seconds = 10});
  EXPECT_EQ(account.shortage(), BudgetShortage::kBytes);
  EXPECT_DOUBLE_EQ(account.bytes()->level(), -500);
  EXPECT_DOUBLE_EQ(account.seconds()->level(), 90);
  EXPECT_EQ(account.OpensAt(), After(kHourMs / 2 + 1));
}

TEST(BudgetAccount, ChangedLimits_KeepWhatWasSpent) {
  BudgetAccount account;
  account.SetLimits({.bytes_per_hour = 1000}, kStart);
  account.Charge({.bytes = 1500});
  account.SetLimits({.bytes_per_hour = 2000}, kStart);
  EXPECT_DOUBLE_EQ(account.bytes()->level(), -500) << "setting the limit again is no new budget";
  account.SetLimits({.bytes_per_hour = 10}, kStart);
  EXPECT_DOUBLE_EQ(account.bytes()->level(), -240);
  account.SetLimits({}, kStart);
  EXPECT_EQ(account.shortage(), BudgetShortage::kNone);
}

TEST(NoLater, IsBoundedWithoutOverflow) {
  EXPECT_EQ(NoLater(TimestampMs{INT64_MAX}, kStart), After(kLookAgainMs));
  EXPECT_EQ(NoLater(After(5), kStart), After(5));
  EXPECT_EQ(NoLater(TimestampMs{0}, kStart), TimestampMs{0});
}

}  // namespace
}  // namespace firn::decide
