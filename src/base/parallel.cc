// SPDX-License-Identifier: Apache-2.0
#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include "base/threads.h"

namespace firn {

Status ForEachIndex(std::size_t count, int threads, const std::function<Status(std::size_t)>& run) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::size_t error_index = count;
  std::optional<Error> error;
  const auto work = [&] {
    while (!failed) {
      const std::size_t index = next++;
      if (index >= count) return;
      Status status = run(index);
      if (status) continue;
      failed = true;
      const std::lock_guard lock(mutex);
      if (index < error_index) {
        error_index = index;
        error = std::move(status.error());
      }
    }
  };
  std::vector<std::jthread> others;
  const std::size_t wanted = std::min<std::size_t>(count, static_cast<std::size_t>(std::max(threads, 1)));
  if (wanted > 1) StartThreads(others, wanted - 1, work);
  work();
  others.clear();  // joins them
  if (error) return std::move(*error);
  return Ok();
}

}  // namespace firn
