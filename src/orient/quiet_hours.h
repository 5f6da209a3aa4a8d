// SPDX-License-Identifier: Apache-2.0
//
// Hours of the week in which no automatic work starts.
//
// In: "Mon-Fri 08:00-18:00; Sat,Sun 22:00-02:00", in UTC. A window without days is for every day; one that ends at or
//   before its begin ends on the next day. Out: whether a time is in such hours, and until when.
// Guarantees: an end is less than a week away. Hours that leave no minute of the week free are refused: that is what
//   `enabled: false` says.
// Cost: O(windows), at most kQuietWindowsMax. Errors: kInvalidArgument quoting the part that is wrong.
// Threads: value type.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace firn::orient {

inline constexpr std::size_t kQuietWindowsMax = 32;

struct QuietHours {
  std::string text;                                          // as it was given
  std::vector<std::pair<std::int32_t, std::int32_t>> spans;  // minutes of the week, Monday 00:00 is 0; end excluded

  friend bool operator==(const QuietHours&, const QuietHours&) = default;
};

Result<QuietHours> ParseQuietHours(std::string_view text);

/// The first minute after `now` that is not quiet; nullopt when `now` is not quiet.
std::optional<TimestampMs> QuietUntil(const QuietHours& hours, TimestampMs now);

}  // namespace firn::orient
