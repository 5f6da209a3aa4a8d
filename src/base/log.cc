// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>

namespace firn {
namespace {

std::atomic<LogLevel> level_min{LogLevel::kWarn};
constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};

}  // namespace

void SetLogLevel(LogLevel level) { level_min = level; }

void Log(LogLevel level, std::string_view message) {
  if (level < level_min.load() || level == LogLevel::kOff) return;
  const std::string line = fmt::format("firn {}: {}\n", kNames[static_cast<int>(level)], message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace firn
