// SPDX-License-Identifier: Apache-2.0
#include "base/threads.h"

#include <system_error>
#include <utility>

namespace firn {

Result<std::jthread> StartThread(std::function<void()> work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& refusal) {
    return Error{Code::kLimit, std::string("no thread could be started: ") + refusal.code().message()};
  }
}

void StartThreads(std::vector<std::jthread>& threads, std::size_t count, const std::function<void()>& work) {
  threads.reserve(threads.size() + count);
  for (; count > 0; --count) {
    Result<std::jthread> started = StartThread(work);
    if (!started) return;
    threads.push_back(std::move(*started));
  }
}

}  // namespace firn
