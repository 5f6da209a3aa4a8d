// SPDX-License-Identifier: Apache-2.0
#include "base/result.h"

namespace firn {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return "invalid argument";
    case Code::kNotFound: return "not found";
    case Code::kCorrupt: return "corrupt";
    case Code::kUnsupported: return "unsupported";
    case Code::kConflict: return "conflict";
    case Code::kOutcomeUnknown: return "outcome unknown";
    case Code::kUnavailable: return "unavailable";
    case Code::kLimit: return "limit reached";
    case Code::kCancelled: return "cancelled";
    case Code::kInternal: return "internal error";
  }
  return "unknown code";
}

std::string ToString(const Error& error) { return std::string(CodeName(error.code)) + ": " + error.message; }

}  // namespace firn
