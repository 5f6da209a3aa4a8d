// SPDX-License-Identifier: Apache-2.0
//
// Options of the commands that run the service or talk to one: durations, ports, small files, the state's place.
//
// Guarantees: messages name the option, never a token.
// Errors: kInvalidArgument naming the option; those of ports/posix.h for files: kNotFound only where there is none;
// kLimit
//   for one that is too long.
// Threads: pure but for the files and the environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace firn::cli {

/// Milliseconds of "500ms", "30s", "5m", "2h", "1d".
Result<std::int64_t> ParseDurationOption(std::string_view option, std::string_view text);
Result<int> ParsePort(std::string_view option, std::string_view text);
/// A whole local file of at most so many bytes.
Result<std::string> ReadSmallFile(const std::string& path, std::size_t bytes_max);
/// One line; refused if others than its owner can read it.
Result<std::string> ReadTokenFile(const std::string& path);
/// $XDG_STATE_HOME/firn/state.db, or below ~/.local/state. Nothing is made.
Result<std::string> DefaultStateFile();
Status MakeFolderOf(const std::string& file);

}  // namespace firn::cli
