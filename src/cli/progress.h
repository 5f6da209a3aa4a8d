// SPDX-License-Identifier: Apache-2.0
//
// Shows how far long work is: a bar that is drawn again on a terminal, a line now and then elsewhere.
//
// Guarantees: writes to standard error only; at most ten times a second on a terminal and every ten seconds
//   elsewhere; nothing at all when silent. Finish() and destruction leave the cursor at the start of a line.
// Threads: Update and Note from any.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "cli/terminal.h"
#include "ports/clock.h"

namespace firn::cli {

class Progress {
 public:
  struct Options {
    std::string title;  // "merging"
    bool silent = false;
  };

  Progress(Terminal& terminal, ports::Clock& clock, Options options);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Bytes that are done; never shown as falling.
  void Update(std::int64_t done_bytes, std::int64_t total_bytes);
  /// A line of its own, such as a commit; the bar goes on below it.
  void Note(std::string_view line);
  void Finish();

 private:
  std::string Describe() const;
  std::string DrawBar() const;
  void Clear();

  Terminal& terminal_;
  ports::Clock& clock_;
  const Options options_;
  const bool interactive_;
  std::mutex mutex_;
  const std::int64_t started_ns_;
  std::int64_t shown_ns_;
  std::int64_t done_bytes_ = 0, total_bytes_ = 0;
  bool drawn_ = false;
};

}  // namespace firn::cli
