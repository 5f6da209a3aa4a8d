// SPDX-License-Identifier: Apache-2.0
#include "ports/thread_time.h"

#include <time.h>

namespace firn::ports {

std::int64_t ThreadCpuNs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

}  // namespace firn::ports
