// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog_opening.h"

#include <utility>

#include "base/threads.h"

namespace firn::cli {
namespace {

constexpr std::chrono::milliseconds kGlance{50};

}  // namespace

CatalogOpening::CatalogOpening(std::string name, std::function<Opened()> open, const std::atomic<bool>& cancelled)
    : name_(std::move(name)), open_(std::move(open)), cancelled_(cancelled) {
  Begin();
}

void CatalogOpening::Begin() {
  const auto task = std::make_shared<std::packaged_task<Opened()>>(open_);
  running_ = task->get_future();
  Result<std::jthread> thread = StartThread([task] { (*task)(); });
  if (thread) {
    thread_ = std::move(*thread);
    return;
  }
  std::promise<Opened> refused;
  refused.set_value(std::move(thread.error()).In("catalog `" + name_ + "`"));
  running_ = refused.get_future();
}

CatalogOpening::Opened CatalogOpening::OpenUntil(std::chrono::steady_clock::time_point end) {
  if (!running_.valid() && !cancelled_) Begin();
  while (running_.valid() && !cancelled_) {
    if (running_.wait_for(kGlance) == std::future_status::ready) return running_.get();
    if (std::chrono::steady_clock::now() < end) continue;
    return Error{Code::kUnavailable, "catalog `" + name_ + "` has not answered yet"};
  }
  return Error{Code::kUnavailable, "catalog `" + name_ + "` is not opened any more: the program ends"};
}

}  // namespace firn::cli
