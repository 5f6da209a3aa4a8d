// SPDX-License-Identifier: Apache-2.0
//
// Watches a local warehouse, and tells of tables whose metadata changes.
//
// In: a directory below which tables lie (`.../metadata/*.metadata.json`). Out: commits in a queue, with the table's
//   directory as location: an absolute path without a scheme.
// Guarantees: tables that are made later are found; links are not followed; below a table only `metadata` is
//   watched. When the kernel says that it lost events, everything is walked again and every table is told of. That, and
//   what cannot be watched (too deep, too many; the sweep finds it), is counted and logged.
// Cost: one watch a directory above and including `metadata`; one thread. Threads: any.
// Errors: kNotFound and others for the root, kUnsupported where the system has no inotify,
//   kLimit: its thread cannot be started.
// Source: inotify(7); network file systems do not tell what others write.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "ports/event_source.h"

namespace firn::ports {

struct DirectoryWatchOptions {
  int depth_max = 8;
  std::size_t watches_max = 50'000;
};

struct DirectoryWatchCounts {
  std::int64_t watched = 0;      // folders
  std::int64_t not_watched = 0;  // folders
  std::int64_t overflows = 0;    // how often events were lost
};

class DirectoryWatch {
 public:
  /// Keeps a reference to the queue. Returns when everything that is there is watched.
  static Result<std::unique_ptr<DirectoryWatch>> Start(const std::string& root, EventQueue& queue,
                                                       DirectoryWatchOptions options);
  virtual ~DirectoryWatch() = default;
  virtual DirectoryWatchCounts counts() const = 0;
};

}  // namespace firn::ports
