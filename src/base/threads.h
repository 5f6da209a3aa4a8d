// SPDX-License-Identifier: Apache-2.0
//
// Starts threads that the system may refuse: containers and users have limits of processes, and threads count.
//
// In: what the threads do; it must not throw. Out: threads that are joined when they are destroyed.
// Guarantees: none starts without being owned.
// Errors: kLimit: the system has no more threads.
// Threads: any.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

#include "base/result.h"

namespace firn {

Result<std::jthread> StartThread(std::function<void()> work);

/// Adds up to `count` threads that do the same: fewer, or none, when the system has no more.
void StartThreads(std::vector<std::jthread>& threads, std::size_t count, const std::function<void()>& work);

}  // namespace firn
