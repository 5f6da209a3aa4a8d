// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <mutex>
#include <utility>

#include "base/text_parts.h"

namespace firn {
namespace {

std::atomic<LogLevel> level_min{LogLevel::kWarn};
constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};

std::mutex prefix_mutex;
std::function<std::string()>& Prefix() {
  static std::function<std::string()> prefix;
  return prefix;
}

}  // namespace

void SetLogLevel(LogLevel level) { level_min = level; }
bool IsLogged(LogLevel level) { return level != LogLevel::kOff && level >= level_min.load(); }

void SetLogPrefix(std::function<std::string()> prefix) {
  const std::lock_guard lock(prefix_mutex);
  Prefix() = std::move(prefix);
}

void Log(LogLevel level, std::string_view message) {
  if (!IsLogged(level)) return;
  const std::string text = OneLine(message);
  const std::lock_guard lock(prefix_mutex);
  const std::string line =
      fmt::format("{}firn {}: {}\n", Prefix() ? Prefix()() : "", kNames[static_cast<int>(level)], text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace firn
