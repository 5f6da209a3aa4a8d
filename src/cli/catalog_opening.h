// SPDX-License-Identifier: Apache-2.0
//
// Opens a catalog in the background, so that nobody has to wait for a server that does not answer.
//
// In: a name, a way to open it. Out: the catalog of that name.
// Guarantees: opening begins at once, and anew when somebody asks after it has failed: one at a time. Nobody waits for
//   longer than they want, or after the program was told to end.
// Cost: a thread while it is being opened; the destructor waits for it. Threads: OpenUntil() from one at a time.
// Errors: those of opening; kLimit: no thread could be started; kUnavailable: it has not ended, or the program ends.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>

#include "ports/catalog.h"

namespace firn::cli {

class CatalogOpening {
 public:
  using Opened = Result<std::shared_ptr<ports::Catalog>>;
  /// `cancelled` must live longer. `open` is called from another thread.
  CatalogOpening(std::string name, std::function<Opened()> open, const std::atomic<bool>& cancelled);

  const std::string& name() const { return name_; }
  Opened OpenUntil(std::chrono::steady_clock::time_point end);

 private:
  void Begin();

  const std::string name_;
  const std::function<Opened()> open_;
  const std::atomic<bool>& cancelled_;
  std::future<Opened> running_;
  std::jthread thread_;  // the last one, so that it ends first
};

}  // namespace firn::cli
