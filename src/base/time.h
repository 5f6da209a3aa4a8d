// SPDX-License-Identifier: Apache-2.0
//
// A point in time as a value: milliseconds since 1970-01-01 UTC, the unit of table metadata.
//
// Guarantees: nothing here reads a clock; ports/clock.h does, and passes the value in.
// Threads: value type. Source: Iceberg table spec, "timestamp-ms".
#pragma once

#include <compare>
#include <cstdint>

namespace firn {

struct TimestampMs {
  std::int64_t value = 0;
  friend constexpr auto operator<=>(const TimestampMs&, const TimestampMs&) = default;
};

}  // namespace firn
