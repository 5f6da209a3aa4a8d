// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_codes.h"

#include <array>

namespace firn::cli {
namespace {

constexpr std::array<ExitCode, 12> kExitCodes = {{
    {0, "ok", "Done, or there was nothing to do."},
    {1, "internal", "A fault of firn itself: please report it."},
    {2, "invalid argument", "The request makes no sense, or rights are missing: fix what is named."},
    {3, "not found", "The table, snapshot, branch or file does not exist."},
    {4, "corrupt", "Bytes break their format: nothing was written; the file and the offset are named."},
    {5, "unsupported", "Valid, but not done by this version or forbidden by the table: it was left alone."},
    {6, "conflict", "Others committed first, too often: run the command again."},
    {7, "outcome unknown", "A commit may have happened: nothing was deleted; look at the table, then run again."},
    {8, "unavailable", "Storage or catalog did not answer: run again later."},
    {9, "limit", "A limit of memory, time, files or threads was reached: raise it or ask for less."},
    {10, "cancelled", "Stopped by a signal: commits that were made stay, everything else was cleaned up."},
    {11, "partly done", "Some file groups were committed, others failed: the report says which and why."},
}};

}  // namespace

int ExitNumber(Code code) {
  switch (code) {
    case Code::kInternal: return 1;
    case Code::kInvalidArgument: return 2;
    case Code::kNotFound: return 3;
    case Code::kCorrupt: return 4;
    case Code::kUnsupported: return 5;
    case Code::kConflict: return 6;
    case Code::kOutcomeUnknown: return 7;
    case Code::kUnavailable: return 8;
    case Code::kLimit: return 9;
    case Code::kCancelled: return 10;
  }
  return 1;
}

std::span<const ExitCode> ExitCodes() { return kExitCodes; }

}  // namespace firn::cli
