// SPDX-License-Identifier: Apache-2.0
#include "ports/clock.h"

#include <chrono>
#include <thread>

namespace firn::ports {

TimestampMs SystemClock::Now() {
  using std::chrono::duration_cast;
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return {duration_cast<std::chrono::milliseconds>(since_epoch).count()};
}

std::int64_t SystemClock::MonotonicNs() {
  const auto since_start = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(since_start).count();
}

void SystemClock::SleepMs(std::int64_t duration_ms) {
  std::this_thread::sleep_for(std::chrono::milliseconds(duration_ms));
}

}  // namespace firn::ports
