// SPDX-License-Identifier: Apache-2.0
#include "orient/quiet_hours.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text_parts.h"

namespace firn::orient {
namespace {

constexpr std::int32_t kDayMinutes = 24 * 60;
constexpr std::int32_t kWeekMinutes = 7 * kDayMinutes;
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kThursday = 3;  // 1970-01-01
constexpr std::array<std::string_view, 7> kDays = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};

Error Wrong(std::string_view part) {
  return {Code::kInvalidArgument,
          fmt::format("\"{}\" is no quiet time: write \"Mon-Fri 08:00-18:00\" or \"22:00-06:00\" (UTC)", part)};
}

std::optional<std::size_t> ParseDay(std::string_view text) {
  const auto day = std::ranges::find(kDays, text);
  if (day == kDays.end()) return std::nullopt;
  return static_cast<std::size_t>(day - kDays.begin());
}

std::optional<std::int32_t> ParseMinute(std::string_view text) {
  const bool shaped = text.size() == 5 && text[2] == ':' && text.find_first_not_of("0123456789:") == text.npos &&
                      std::ranges::count(text, ':') == 1;
  if (!shaped) return std::nullopt;
  const std::int32_t hour = (text[0] - '0') * 10 + (text[1] - '0'), minute = (text[3] - '0') * 10 + (text[4] - '0');
  if (hour > 24 || minute > 59 || (hour == 24 && minute > 0)) return std::nullopt;
  return hour * 60 + minute;
}

/// "Mon-Fri,Sun" as seven flags.
std::optional<std::array<bool, 7>> ParseDays(std::string_view text) {
  std::array<bool, 7> days{};
  while (!text.empty()) {
    std::string_view range = Trimmed(NextPart(text, ','));
    const auto first = ParseDay(Trimmed(NextPart(range, '-')));
    const auto last = range.empty() ? first : ParseDay(range);
    if (!first || !last) return std::nullopt;
    for (std::size_t day = *first;; day = (day + 1) % 7) {
      days[day] = true;
      if (day == *last) break;
    }
  }
  return days;
}

Status AddWindow(std::string_view window, QuietHours& hours) {
  const std::size_t space = window.rfind(' ');
  std::array<bool, 7> days;
  days.fill(true);
  if (space != window.npos) {
    const auto parsed = ParseDays(Trimmed(window.substr(0, space)));
    if (!parsed) return Wrong(window);
    days = *parsed;
  }
  std::string_view times = space == window.npos ? window : window.substr(space + 1);
  const auto begin = ParseMinute(Trimmed(NextPart(times, '-'))), end = ParseMinute(times);
  if (!begin || !end || *begin == kDayMinutes) return Wrong(window);
  const std::int32_t length = *end > *begin ? *end - *begin : *end - *begin + kDayMinutes;
  for (std::int32_t day = 0; day < 7; ++day) {
    if (!days[static_cast<std::size_t>(day)]) continue;
    const std::int32_t from = day * kDayMinutes + *begin, to = from + length;
    hours.spans.emplace_back(from, std::min(to, kWeekMinutes));
    if (to > kWeekMinutes) hours.spans.emplace_back(0, to - kWeekMinutes);
  }
  return Ok();
}

/// In order, joined where they touch.
void Normalise(QuietHours& hours) {
  std::ranges::sort(hours.spans);
  std::vector<std::pair<std::int32_t, std::int32_t>> joined;
  for (const auto& span : hours.spans) {
    if (!joined.empty() && span.first <= joined.back().second) {
      joined.back().second = std::max(joined.back().second, span.second);
    } else {
      joined.push_back(span);
    }
  }
  hours.spans = std::move(joined);
}

}  // namespace

Result<QuietHours> ParseQuietHours(std::string_view text) {
  QuietHours hours{.text = std::string(text), .spans = {}};
  std::string_view rest = Trimmed(text);
  for (std::size_t count = 0; !rest.empty(); ++count) {
    if (count == kQuietWindowsMax) {
      return Error{Code::kInvalidArgument, fmt::format("more than {} quiet times", kQuietWindowsMax)};
    }
    FIRN_TRY(AddWindow(Trimmed(NextPart(rest, ';')), hours));
  }
  Normalise(hours);
  if (!hours.spans.empty() && hours.spans.front() == std::pair(0, kWeekMinutes)) {
    return Error{Code::kInvalidArgument,
                 fmt::format("quiet hours \"{}\" leave no time for work: `enabled: false` says that", text)};
  }
  return hours;
}

std::optional<TimestampMs> QuietUntil(const QuietHours& hours, TimestampMs now) {
  std::int64_t minutes = now.value / kMinuteMs;
  if (now.value % kMinuteMs < 0) --minutes;  // before 1970: a clock that was never set
  const std::int64_t shifted = (minutes % kWeekMinutes + kThursday * kDayMinutes + kWeekMinutes) % kWeekMinutes;
  const auto minute = static_cast<std::int32_t>(shifted);
  for (const auto& [begin, end] : hours.spans) {
    if (minute < begin || minute >= end) continue;
    std::int64_t left = end - minute;
    // The night from Sunday to Monday goes on at the begin of the week.
    if (end == kWeekMinutes && hours.spans.front().first == 0) left += hours.spans.front().second;
    return TimestampMs{(minutes + left) * kMinuteMs};
  }
  return std::nullopt;
}

}  // namespace firn::orient
