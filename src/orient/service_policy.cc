// SPDX-License-Identifier: Apache-2.0
#include "orient/service_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/human_text.h"

namespace firn::orient {
namespace {

constexpr std::string_view kPriority = "priority";
constexpr std::string_view kBytes = "budget.bytes-per-hour";
constexpr std::string_view kSeconds = "budget.worker-seconds-per-hour";
constexpr std::string_view kJobs = "budget.concurrent-jobs";
constexpr std::string_view kQuiet = "quiet-hours";
constexpr std::string_view kFinishWithin = "finish-within-minutes";
constexpr std::string_view kDeferrals = "max-deferrals";
constexpr std::string_view kAnalyzeApply = "analyze.apply";
constexpr std::string_view kAnalyzeDays = "analyze.every-days";
constexpr std::int32_t kAnalyzeDaysMax = 366;
constexpr std::int32_t kJobsMax = 1'000;
constexpr std::int32_t kDeferralsMax = 100;
constexpr double kFinishMinutesMax = 60.0 * 24 * 366;
constexpr double kSecondsPerHourMax = 3600.0 * kJobsMax;

PolicyFault About(std::string_view key, std::string_view what) {
  std::string whole = fmt::format("firn.{}", key);
  std::string text = fmt::format("`{}`{}", whole, what);
  return {{std::move(whole)}, std::move(text)};
}

PolicyFault Bad(std::string_view key, std::string_view value, std::string_view wanted) {
  return About(key, fmt::format(": \"{}\" is not {}", value, wanted));
}

template <class Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<double> ParseNumber(std::string_view text) {
  const auto number = ParseWhole<double>(text);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

}  // namespace

const std::vector<std::string_view>& ServicePolicyKeys() {
  static const std::vector<std::string_view> keys = {kAnalyzeApply, kAnalyzeDays, kBytes,    kJobs, kSeconds,
                                                     kFinishWithin, kDeferrals,   kPriority, kQuiet};
  return keys;
}

bool IsServicePolicyKey(std::string_view key) {
  return std::ranges::find(ServicePolicyKeys(), key) != ServicePolicyKeys().end();
}

std::optional<PolicyFault> SetServicePolicy(ServicePolicy& policy, std::string_view key, const std::string& value) {
  if (key == kPriority) {
    const auto number = ParseNumber(value);
    if (!number || *number < kPriorityMin || *number > kPriorityMax) return Bad(key, value, "between 0.01 and 100");
    policy.priority = *number;
  } else if (key == kBytes) {
    const auto bytes = ParseHumanBytes(value);
    if (!bytes || *bytes <= 0) return Bad(key, value, "a size above 0, as \"500GB\"");
    policy.budget.bytes_per_hour = *bytes;
  } else if (key == kSeconds) {
    const auto seconds = ParseNumber(value);
    if (!seconds || *seconds <= 0 || *seconds > kSecondsPerHourMax) {
      return Bad(key, value, "a number of seconds above 0 and at most 3600000");
    }
    policy.budget.worker_seconds_per_hour = *seconds;
  } else if (key == kJobs) {
    const auto jobs = ParseWhole<std::int32_t>(value);
    if (!jobs || *jobs < 1 || *jobs > kJobsMax) return Bad(key, value, "a number of jobs between 1 and 1000");
    policy.budget.concurrent_jobs = *jobs;
  } else if (key == kQuiet) {
    auto hours = ParseQuietHours(value);
    if (!hours) return About(key, ": " + hours.error().message);
    policy.quiet_hours = std::move(*hours);
  } else if (key == kFinishWithin) {
    const auto minutes = ParseNumber(value);
    if (!minutes || *minutes <= 0 || *minutes > kFinishMinutesMax) {
      return Bad(key, value, "a number of minutes above 0 and at most a year");
    }
    policy.finish_within_ms = std::max<std::int64_t>(1, std::llround(*minutes * 60'000));
  } else if (key == kDeferrals) {
    const auto count = ParseWhole<std::int32_t>(value);
    if (!count || *count < 0 || *count > kDeferralsMax) return Bad(key, value, "a number between 0 and 100");
    policy.max_deferrals = *count;
  } else if (key == kAnalyzeApply) {
    if (value != "true" && value != "false") return Bad(key, value, "true or false");
    policy.analyze_apply = value == "true";
  } else if (key == kAnalyzeDays) {
    const auto days = ParseWhole<std::int32_t>(value);
    if (!days || *days < 0 || *days > kAnalyzeDaysMax) return Bad(key, value, "a number of days between 0 and 366");
    policy.analyze_every_days = *days;
  } else {
    return About(key, " is not known");
  }
  return std::nullopt;
}

}  // namespace firn::orient
