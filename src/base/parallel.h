// SPDX-License-Identifier: Apache-2.0
//
// Runs a function for every index on several threads.
//
// In: a count, a function that may fail. Out: the error of the lowest index that failed.
// Guarantees: after an error no further index is started; all threads have ended on return. Fewer threads are used when
//   the system has no more.
// Threads: `run` is called from several threads at once, once an index.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"

namespace firn {

Status ForEachIndex(std::size_t count, int threads, const std::function<Status(std::size_t)>& run);

}  // namespace firn
