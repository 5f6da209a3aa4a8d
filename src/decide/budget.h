// SPDX-License-Identifier: Apache-2.0
//
// How much work a table, a database, or everything may still start: buckets that fill with time.
//
// In: limits an hour, what started and what it cost in the end, the time. Out: whether more may start, and when.
// Guarantees: what is in a bucket stays between -kDebtHours and one hour's amount. Work may start while there is
//   anything in it, whatever the work costs: large work does not wait behind small work for ever, and pays by the
//   time that nothing starts afterwards. Averaged over long times the limit holds, but for work that costs more than
//   kDebtHours of it. A clock that goes back fills nothing and is followed; one that jumps ahead fills an hour's
//   amount at most.
// Cost: O(1). Threads: value types. Source: token buckets as in RFC 2697, with debt.
#pragma once

#include <optional>

#include "base/time.h"
#include "decide/effect.h"
#include "orient/service_policy.h"

namespace firn::decide {

/// No time to wait until is further away than this: then it is looked at again.
inline constexpr std::int64_t kLookAgainMs = std::int64_t{24} * 3'600'000;
inline constexpr double kDebtHours = 24;

/// `time`, at most kLookAgainMs after `now`.
TimestampMs NoLater(TimestampMs time, TimestampMs now);

class TokenBucket {
 public:
  /// Full. `per_hour` > 0.
  TokenBucket(double per_hour, TimestampMs now) : per_hour_(per_hour), level_(per_hour), at_(now) {}

  void Advance(TimestampMs now);
  void SetRate(double per_hour);
  /// Negative amounts are given back.
  void Take(double amount);
  bool is_open() const { return level_ > 0; }
  /// When it opens, as seen at the time of the last Advance.
  TimestampMs OpensAt() const;
  double level() const { return level_; }
  double per_hour() const { return per_hour_; }
  TimestampMs at() const { return at_; }
  /// As it was saved; a level out of range is clamped.
  void Restore(double level, TimestampMs at);

 private:
  void Clamp();

  double per_hour_;
  double level_;
  TimestampMs at_;
};

/// Why no more may start.
enum class BudgetShortage { kNone, kBytes, kSeconds };

class BudgetAccount {
 public:
  /// Keeps what is in the buckets when limits change.
  void SetLimits(const orient::BudgetLimits& limits, TimestampMs now);
  const orient::BudgetLimits& limits() const { return limits_; }

  void Advance(TimestampMs now);
  void Charge(const Effect& predicted);
  /// Work that was charged as `predicted` has cost `measured`.
  void Settle(const Effect& predicted, const Effect& measured);
  BudgetShortage shortage() const;
  /// When the shortage is over, as seen at the last Advance.
  TimestampMs OpensAt() const;

  const std::optional<TokenBucket>& bytes() const { return bytes_; }
  const std::optional<TokenBucket>& seconds() const { return seconds_; }
  std::optional<TokenBucket>& bytes() { return bytes_; }
  std::optional<TokenBucket>& seconds() { return seconds_; }

 private:
  orient::BudgetLimits limits_;
  std::optional<TokenBucket> bytes_, seconds_;
};

}  // namespace firn::decide
