// SPDX-License-Identifier: Apache-2.0
//
// Writes log lines to standard error, so that standard output stays for results.
//
// In: a level and a sentence. Out: `firn info: SENTENCE`, behind what SetLogPrefix gives.
// Guarantees: one line a call, written whole: control characters, which names of tables may hold, become blanks. Never
//   secrets: callers pass locations and names, not credentials.
// Cost: a call whose level is dropped costs one load; make long sentences only where IsLogged().
// Threads: any; SetLogPrefix waits for lines that are being made.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace firn {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };

/// Lines below `level` are dropped. The default is kWarn.
void SetLogLevel(LogLevel level);
bool IsLogged(LogLevel level);
/// What every line begins with from now on, such as the time; empty: nothing.
void SetLogPrefix(std::function<std::string()> prefix);
void Log(LogLevel level, std::string_view message);

}  // namespace firn
