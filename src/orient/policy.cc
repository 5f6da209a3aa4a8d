// SPDX-License-Identifier: Apache-2.0
#include "orient/policy.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "orient/service_policy.h"

namespace firn::orient {
namespace {

constexpr std::string_view kPrefix = "firn.";
constexpr std::string_view kWriteTarget = "write.target-file-size-bytes";
constexpr std::array<std::string_view, 9> kKeys = {
    "firn.enabled",      "firn.target-file-size-bytes", "firn.healthy-fraction",
    "firn.max-fraction", "firn.min-input-files",        "firn.tolerated-entropy",
    "firn.effort",       "firn.delete-ratio-threshold", "firn.delete-file-threshold"};

Error Bad(std::string_view key, std::string_view value, std::string_view wanted) {
  return {Code::kInvalidArgument, fmt::format("table property `{}`: \"{}\" is not {}", key, value, wanted)};
}

template <class Number>
std::optional<Number> ParseWhole(std::string_view text) {
  Number number{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Status Set(Policy& policy, std::string_view key, const std::string& value) {
  if (key == "firn.enabled") {
    if (value != "true" && value != "false") return Bad(key, value, "true or false");
    policy.enabled = value == "true";
  } else if (key == "firn.target-file-size-bytes" || key == kWriteTarget) {
    auto bytes = ParseWhole<std::int64_t>(value);
    if (!bytes || *bytes <= 0) return Bad(key, value, "a number of bytes above 0");
    policy.target_size_bytes = *bytes;
  } else if (key == "firn.min-input-files") {
    auto files = ParseWhole<std::int32_t>(value);
    if (!files || *files < 2) return Bad(key, value, "a number of files of at least 2");
    policy.min_input_files = *files;
  } else if (key == "firn.delete-file-threshold") {
    auto files = ParseWhole<std::int32_t>(value);
    if (!files || *files < 1) return Bad(key, value, "a number of files of at least 1");
    policy.delete_file_threshold = *files;
  } else if (key == "firn.effort") {
    if (value != "fast" && value != "balanced" && value != "dense") {
      return Bad(key, value, "fast, balanced or dense");
    }
    policy.effort = value;
  } else {
    auto fraction = ParseWhole<double>(value);
    if (!fraction || !std::isfinite(*fraction)) return Bad(key, value, "a number");
    if (key == "firn.healthy-fraction") policy.healthy_fraction = *fraction;
    if (key == "firn.max-fraction") policy.max_fraction = *fraction;
    if (key == "firn.delete-ratio-threshold") policy.delete_ratio_threshold = *fraction;
    if (key == "firn.tolerated-entropy") policy.tolerated_entropy = *fraction;
  }
  return Ok();
}

std::string KnownKeys() {
  std::string keys = fmt::format("{}", fmt::join(kKeys, ", "));
  for (const std::string_view key : ServicePolicyKeys()) keys += fmt::format(", {}{}", kPrefix, key);
  return keys;
}

}  // namespace

std::int64_t Policy::healthy_size_bytes() const {
  return static_cast<std::int64_t>(std::llround(static_cast<double>(target_size_bytes) * healthy_fraction));
}

std::int64_t Policy::size_max_bytes() const {
  return static_cast<std::int64_t>(std::llround(static_cast<double>(target_size_bytes) * max_fraction));
}

Result<Policy> PolicyFromProperties(const Properties& properties) {
  Policy policy;
  ServicePolicy service;  // its keys are checked here as well: a mistake is to be seen by whoever looks at the table
  if (auto it = properties.find(kWriteTarget); it != properties.end()) {
    FIRN_TRY(Set(policy, kWriteTarget, it->second));
  }
  for (auto it = properties.lower_bound(kPrefix); it != properties.end(); ++it) {
    const std::string& key = it->first;
    if (!key.starts_with(kPrefix)) break;
    if (const auto own = std::string_view(key).substr(kPrefix.size()); IsServicePolicyKey(own)) {
      FIRN_TRY(SetServicePolicy(service, own, it->second));
      continue;
    }
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
      return Error{Code::kInvalidArgument,
                   fmt::format("table property `{}` is not known; firn knows {}", key, KnownKeys())};
    }
    FIRN_TRY(Set(policy, key, it->second));
  }
  // One property alone may move the healthy fraction; the cap follows unless it was given.
  if (!properties.contains("firn.max-fraction")) {
    policy.max_fraction = std::max(policy.max_fraction, 2 * policy.healthy_fraction);
  }
  FIRN_TRY(CheckPolicy(policy));
  return policy;
}

Status CheckPolicy(const Policy& policy) {
  constexpr std::int64_t kTargetMax = std::int64_t{1} << 42;  // 4 TiB: squares and sums stay in range
  auto invalid = [](std::string message) { return Error{Code::kInvalidArgument, std::move(message)}; };
  if (policy.target_size_bytes < 1024 || policy.target_size_bytes > kTargetMax) {
    return invalid(
        fmt::format("a target file size of {} bytes is not between 1 KiB and 4 TiB", policy.target_size_bytes));
  }
  if (!(policy.healthy_fraction > 0 && policy.healthy_fraction <= 1)) {
    return invalid(fmt::format("`firn.healthy-fraction` {} is not above 0 and at most 1", policy.healthy_fraction));
  }
  if (!(policy.max_fraction >= 2 * policy.healthy_fraction && policy.max_fraction >= 1 && policy.max_fraction <= 10)) {
    return invalid(
        fmt::format("`firn.max-fraction` {} is not between 1 and 10 and at least twice `firn.healthy-fraction` {}",
                    policy.max_fraction, policy.healthy_fraction));
  }
  if (policy.min_input_files < 2) return invalid("`firn.min-input-files` is below 2");
  if (!(policy.delete_ratio_threshold > 0 && policy.delete_ratio_threshold <= 1)) {
    return invalid(
        fmt::format("`firn.delete-ratio-threshold` {} is not above 0 and at most 1", policy.delete_ratio_threshold));
  }
  if (policy.delete_file_threshold < 1) return invalid("`firn.delete-file-threshold` is below 1");
  if (!(policy.tolerated_entropy >= 0 && policy.tolerated_entropy < 1)) {
    return invalid(fmt::format("`firn.tolerated-entropy` {} is not at least 0 and below 1", policy.tolerated_entropy));
  }
  return Ok();
}

}  // namespace firn::orient
