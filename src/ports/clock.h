// SPDX-License-Identifier: Apache-2.0
//
// The wall clock and waiting, as something a test can replace.
//
// Guarantees: the memory twin moves only when told, and its Sleep returns at once.
// Threads: any.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace firn::ports {

class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimestampMs Now() = 0;
  /// Monotonic, for durations.
  virtual std::int64_t MonotonicNs() = 0;
  virtual void SleepMs(std::int64_t duration_ms) = 0;
};

class SystemClock final : public Clock {
 public:
  TimestampMs Now() override;
  std::int64_t MonotonicNs() override;
  void SleepMs(std::int64_t duration_ms) override;
};

class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimestampMs start) : now_ms_(start.value) {}
  TimestampMs Now() override { return {now_ms_.load()}; }
  std::int64_t MonotonicNs() override { return now_ms_.load() * 1'000'000; }
  void SleepMs(std::int64_t duration_ms) override { now_ms_ += duration_ms; }

 private:
  std::atomic<std::int64_t> now_ms_;
};

}  // namespace firn::ports
