// SPDX-License-Identifier: Apache-2.0
#include "ports/stoppable_file_io.h"

#include "ports/hooked_file_io.h"

namespace firn::ports {

std::unique_ptr<FileIO> MakeStoppable(FileIO& below, const std::atomic<bool>* stopped) {
  std::shared_ptr<FileIO> borrowed(std::shared_ptr<void>(), &below);
  return std::make_unique<HookedFileIO>(std::move(borrowed), [stopped](const IoEvent& event) -> Status {
    if (stopped == nullptr || !stopped->load(std::memory_order_relaxed)) return Ok();
    return Error{Code::kCancelled, event.location + ": reading was stopped"};
  });
}

}  // namespace firn::ports
