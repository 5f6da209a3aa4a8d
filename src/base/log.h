// SPDX-License-Identifier: Apache-2.0
//
// Writes log lines to standard error, so that standard output stays for results.
//
// Guarantees: one line a call, never secrets: callers pass locations and names, not credentials.
// Threads: any.
#pragma once

#include <string_view>

namespace firn {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };

/// Lines below `level` are dropped. The default is kWarn.
void SetLogLevel(LogLevel level);
void Log(LogLevel level, std::string_view message);

}  // namespace firn
