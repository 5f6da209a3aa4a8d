// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace firn {

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "firn: internal check failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace firn
