// SPDX-License-Identifier: Apache-2.0
#include "decide/budget.h"

#include <algorithm>
#include <cmath>

namespace firn::decide {
namespace {

constexpr double kHourMs = 3'600'000;

void SetLimit(std::optional<TokenBucket>& bucket, std::optional<double> per_hour, TimestampMs now) {
  if (!per_hour) {
    bucket.reset();
  } else if (bucket) {
    bucket->SetRate(*per_hour);
  } else {
    bucket.emplace(*per_hour, now);
  }
}

}  // namespace

TimestampMs NoLater(TimestampMs time, TimestampMs now) {
  // Subtracting first could leave the range of integers.
  return time.value - kLookAgainMs > now.value ? TimestampMs{now.value + kLookAgainMs} : time;
}

void TokenBucket::Advance(TimestampMs now) {
  const double passed = static_cast<double>(now.value) - static_cast<double>(at_.value);
  at_ = now;
  level_ += std::clamp(passed / kHourMs, 0.0, 1.0) * per_hour_;
  Clamp();
}

void TokenBucket::SetRate(double per_hour) {
  per_hour_ = per_hour;
  Clamp();
}

void TokenBucket::Take(double amount) {
  if (!std::isfinite(amount)) return;
  level_ -= amount;
  Clamp();
}

TimestampMs TokenBucket::OpensAt() const {
  if (is_open()) return at_;
  const double wait = -level_ / per_hour_ * kHourMs;
  return {at_.value + static_cast<std::int64_t>(std::min(wait, static_cast<double>(kLookAgainMs) - 1)) + 1};
}

void TokenBucket::Restore(double level, TimestampMs at) {
  level_ = std::isfinite(level) ? level : 0;
  at_ = at;
  Clamp();
}

void TokenBucket::Clamp() { level_ = std::clamp(level_, -kDebtHours * per_hour_, per_hour_); }

void BudgetAccount::SetLimits(const orient::BudgetLimits& limits, TimestampMs now) {
  limits_ = limits;
  const auto& bytes = limits.bytes_per_hour;
  SetLimit(bytes_, bytes ? std::optional(static_cast<double>(*bytes)) : std::nullopt, now);
  SetLimit(seconds_, limits.worker_seconds_per_hour, now);
}

void BudgetAccount::Advance(TimestampMs now) {
  if (bytes_) bytes_->Advance(now);
  if (seconds_) seconds_->Advance(now);
}

void BudgetAccount::Charge(const Effect& predicted) {
  if (bytes_) bytes_->Take(static_cast<double>(predicted.bytes));
  if (seconds_) seconds_->Take(predicted.seconds);
}

void BudgetAccount::Settle(const Effect& predicted, const Effect& measured) {
  if (bytes_) bytes_->Take(static_cast<double>(measured.bytes) - static_cast<double>(predicted.bytes));
  if (seconds_) seconds_->Take(measured.seconds - predicted.seconds);
}

BudgetShortage BudgetAccount::shortage() const {
  if (bytes_ && !bytes_->is_open()) return BudgetShortage::kBytes;
  if (seconds_ && !seconds_->is_open()) return BudgetShortage::kSeconds;
  return BudgetShortage::kNone;
}

TimestampMs BudgetAccount::OpensAt() const {
  TimestampMs opens;
  if (bytes_) opens = std::max(opens, bytes_->OpensAt());
  if (seconds_) opens = std::max(opens, seconds_->OpensAt());
  return opens;
}

}  // namespace firn::decide
