// SPDX-License-Identifier: Apache-2.0
#include "cli/catalog_opening.h"

#include <utility>

namespace firn::cli {
namespace {

constexpr std::chrono::milliseconds kGlance{50};

}  // namespace

CatalogOpening::CatalogOpening(std::string name, std::function<Opened()> open, const std::atomic<bool>& cancelled)
    : name_(std::move(name)), open_(std::move(open)), cancelled_(cancelled) {
  Begin();
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
