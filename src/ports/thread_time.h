// SPDX-License-Identifier: Apache-2.0
//
// CPU time of the calling thread, for those who measure work and not waiting.
//
// Guarantees: never goes back within a thread. Threads: any. Errors: none.
// Source: POSIX clock_gettime, CLOCK_THREAD_CPUTIME_ID.
#pragma once

#include <cstdint>

namespace firn::ports {

std::int64_t ThreadCpuNs();

}  // namespace firn::ports
