// SPDX-License-Identifier: Apache-2.0
#include "orient/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "orient/service_policy.h"

namespace firn::orient {
namespace {

constexpr std::string_view kPrefix = "firn.";
constexpr std::string_view kWriteTarget = "write.target-file-size-bytes";
/// Keys whose value is a fraction or weight, a number of files, or neither.
struct NumberKey {
  std::string_view key;
  double Policy::* member;
};
constexpr NumberKey kNumberKeys[] = {{"firn.healthy-fraction", &Policy::healthy_fraction},
                                     {"firn.max-fraction", &Policy::max_fraction},
                                     {"firn.delete-ratio-threshold", &Policy::delete_ratio_threshold},
                                     {"firn.tolerated-entropy", &Policy::tolerated_entropy},
                                     {"firn.noise-threshold", &Policy::noise_threshold},
                                     {"firn.noise-file-weight", &Policy::noise_file_weight},
                                     {"firn.noise-byte-weight", &Policy::noise_byte_weight},
                                     {"firn.noise-commit-weight", &Policy::noise_commit_weight}};
struct CountKey {
  std::string_view key;
  std::int32_t Policy::* member;
  std::int32_t least;
};
constexpr CountKey kCountKeys[] = {{"firn.min-input-files", &Policy::min_input_files, 2},
                                   {"firn.delete-file-threshold", &Policy::delete_file_threshold, 0},
                                   {"firn.min-removable-files", &Policy::min_removable_files, 1}};
constexpr std::string_view kOtherKeys[] = {"firn.enabled", "firn.target-file-size-bytes", "firn.effort",
                                           "firn.noise-age-seconds", "firn.pin-plan-snapshot"};

using Fault = std::optional<PolicyFault>;

PolicyFault Bad(std::string_view key, std::string_view value, std::string_view wanted) {
  return {{std::string(key)}, fmt::format("`{}`: \"{}\" is not {}", key, value, wanted)};
}

template <class Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Fault SetOther(Policy& policy, std::string_view key, const std::string& value) {
  if (key == "firn.enabled") {
    if (value != "true" && value != "false") return Bad(key, value, "true or false");
    policy.enabled = value == "true";
  } else if (key == "firn.target-file-size-bytes" || key == kWriteTarget) {
    auto bytes = ParseWhole<std::int64_t>(value);
    if (!bytes || *bytes <= 0) return Bad(key, value, "a number of bytes above 0");
    policy.target_size_bytes = *bytes;
  } else if (key == "firn.noise-age-seconds") {
    auto seconds = ParseWhole<std::int64_t>(value);
    if (!seconds || *seconds <= 0) return Bad(key, value, "a number of seconds above 0");
    policy.noise_age_seconds = *seconds;
  } else if (key == "firn.effort") {
    if (value != "fast" && value != "balanced" && value != "dense") {
      return Bad(key, value, "fast, balanced or dense");
    }
    policy.effort = value;
  } else if (key == "firn.pin-plan-snapshot") {
    if (value != "never" && value != "auto" && value != "always") return Bad(key, value, "never, auto or always");
    policy.pin_plan_snapshot = value;
  }
  return std::nullopt;
}

Fault Set(Policy& policy, std::string_view key, const std::string& value) {
  for (const NumberKey& known : kNumberKeys) {
    if (known.key != key) continue;
    auto number = ParseWhole<double>(value);
    if (!number || !std::isfinite(*number)) return Bad(key, value, "a number");
    policy.*known.member = *number;
    return std::nullopt;
  }
  for (const CountKey& known : kCountKeys) {
    if (known.key != key) continue;
    auto files = ParseWhole<std::int32_t>(value);
    if (!files || *files < known.least)
      return Bad(key, value, fmt::format("a number of files of at least {}", known.least));
    policy.*known.member = *files;
    return std::nullopt;
  }
  return SetOther(policy, key, value);
}

std::vector<std::string_view> KnownKeys() {
  std::vector<std::string_view> keys(std::begin(kOtherKeys), std::end(kOtherKeys));
  for (const NumberKey& known : kNumberKeys) keys.push_back(known.key);
  for (const CountKey& known : kCountKeys) keys.push_back(known.key);
  std::ranges::sort(keys);
  return keys;
}

std::string AllKeys(const std::vector<std::string_view>& known_keys) {
  std::string keys = fmt::format("{}", fmt::join(known_keys, ", "));
  for (const std::string_view key : ServicePolicyKeys()) keys += fmt::format(", {}{}", kPrefix, key);
  return keys;
}

Fault NoiseFault(const Policy& policy) {
  constexpr double kWeightMax = 1e6;
  constexpr std::int64_t kAgeMax = std::int64_t{366} * 86'400;
  for (const NumberKey& known : kNumberKeys) {
    if (!known.key.starts_with("firn.noise-")) continue;
    const double value = policy.*known.member;
    if (!(value >= 0 && value <= kWeightMax)) {
      return PolicyFault{{std::string(known.key)},
                         fmt::format("`{}` {} is not between 0 and 1000000", known.key, value)};
    }
  }
  if (policy.noise_age_seconds < 1 || policy.noise_age_seconds > kAgeMax) {
    return PolicyFault{
        {"firn.noise-age-seconds"},
        fmt::format("`firn.noise-age-seconds` {} is not between 1 and {}", policy.noise_age_seconds, kAgeMax)};
  }
  if (policy.min_removable_files < 0) {
    return PolicyFault{{"firn.min-removable-files"}, "`firn.min-removable-files` is below 1"};
  }
  return std::nullopt;
}

Fault FaultOf(const Policy& policy) {
  constexpr std::int64_t kTargetMax = std::int64_t{1} << 42;  // 4 TiB: squares and sums stay in range
  if (policy.target_size_bytes < 1024 || policy.target_size_bytes > kTargetMax) {
    return PolicyFault{
        {"firn.target-file-size-bytes"},
        fmt::format("a target file size of {} bytes is not between 1 KiB and 4 TiB", policy.target_size_bytes)};
  }
  if (!(policy.healthy_fraction > 0 && policy.healthy_fraction <= 1)) {
    return PolicyFault{{"firn.healthy-fraction"},
                       fmt::format("`firn.healthy-fraction` {} is not above 0 and at most 1", policy.healthy_fraction)};
  }
  if (!(policy.max_fraction >= 2 * policy.healthy_fraction && policy.max_fraction >= 1 && policy.max_fraction <= 10)) {
    return PolicyFault{
        {"firn.healthy-fraction", "firn.max-fraction"},
        fmt::format("`firn.max-fraction` {} is not between 1 and 10 and at least twice `firn.healthy-fraction` {}",
                    policy.max_fraction, policy.healthy_fraction)};
  }
  if (policy.min_input_files < 2) return PolicyFault{{"firn.min-input-files"}, "`firn.min-input-files` is below 2"};
  if (!(policy.delete_ratio_threshold > 0 && policy.delete_ratio_threshold <= 1)) {
    return PolicyFault{
        {"firn.delete-ratio-threshold"},
        fmt::format("`firn.delete-ratio-threshold` {} is not above 0 and at most 1", policy.delete_ratio_threshold)};
  }
  if (policy.delete_file_threshold < 0) {
    return PolicyFault{{"firn.delete-file-threshold"}, "`firn.delete-file-threshold` is below 0"};
  }
  if (!(policy.tolerated_entropy >= 0 && policy.tolerated_entropy < 1)) {
    return PolicyFault{
        {"firn.tolerated-entropy"},
        fmt::format("`firn.tolerated-entropy` {} is not at least 0 and below 1", policy.tolerated_entropy)};
  }
  return NoiseFault(policy);
}

}  // namespace

std::int64_t Policy::healthy_size_bytes() const {
  return static_cast<std::int64_t>(std::llround(static_cast<double>(target_size_bytes) * healthy_fraction));
}

std::int64_t Policy::size_max_bytes() const {
  return static_cast<std::int64_t>(std::llround(static_cast<double>(target_size_bytes) * max_fraction));
}

std::int64_t Policy::removable_files_min() const {
  return min_removable_files > 0 ? min_removable_files : std::max(1, min_input_files - 1);
}

Fault ReadPolicy(const Properties& properties, Policy& policy) {
  static const std::vector<std::string_view> known_keys = KnownKeys();
  policy = {};
  ServicePolicy service;  // its keys are checked here as well: a mistake is to be seen by whoever looks at the table
  if (auto it = properties.find(kWriteTarget); it != properties.end()) {
    if (Fault fault = Set(policy, kWriteTarget, it->second)) return fault;
  }
  for (auto it = properties.lower_bound(kPrefix); it != properties.end(); ++it) {
    const std::string& key = it->first;
    if (!key.starts_with(kPrefix)) break;
    if (const auto own = std::string_view(key).substr(kPrefix.size()); IsServicePolicyKey(own)) {
      if (Fault fault = SetServicePolicy(service, own, it->second)) return fault;
      continue;
    }
    if (!std::ranges::binary_search(known_keys, key)) {
      return PolicyFault{{key}, fmt::format("`{}` is not known; firn knows {}", key, AllKeys(known_keys))};
    }
    if (Fault fault = Set(policy, key, it->second)) return fault;
  }
  // One property alone may move the healthy fraction; the cap follows unless it was given.
  if (!properties.contains("firn.max-fraction")) {
    policy.max_fraction = std::max(policy.max_fraction, 2 * policy.healthy_fraction);
  }
  return FaultOf(policy);
}

Result<Policy> PolicyFromProperties(const Properties& properties) {
  Policy policy;
  if (Fault fault = ReadPolicy(properties, policy)) return std::move(*fault).ToError().In("table properties");
  return policy;
}

Status CheckPolicy(const Policy& policy) {
  if (Fault fault = FaultOf(policy)) return std::move(*fault).ToError();
  return Ok();
}

}  // namespace firn::orient
