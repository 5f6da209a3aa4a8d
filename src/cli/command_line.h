// SPDX-License-Identifier: Apache-2.0
//
// Runs the command that the arguments name and gives the number to exit with.
//
// Guarantees: results go to standard output, everything else to standard error; with --json standard output is one
//   JSON value, also for errors.
// Errors: as exit codes (exit_codes.h). CLI11's exceptions end here.
// Threads: once a process.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"

namespace firn::cli {

/// `arguments` without the program's name.
int RunCommandLine(std::vector<std::string> arguments, Environment& environment);

}  // namespace firn::cli
