// SPDX-License-Identifier: Apache-2.0
//
// Keeps small files that never change, such as manifests, in memory between reads.
//
// In: any FileIO; files that are opened with their size, as the manifest list gives it. Out: the same FileIO, which
//   fetches such a file once, whole, with one read.
// Guarantees: a file is known by scope, location and size together: another size is another file. The kept bytes never
//   exceed capacity_bytes, those that were not used for longest go first. Files that are opened without a size, or that
//   are larger than an eighth of the capacity, pass through. Only for what reads immutable files: nothing is asked
//   again. Creating and deleting pass through.
// Cost: a look-up under one lock; bytes as they are stored, and about 300 more a file.
// Threads: any; a file that two threads want first is fetched twice.
// Errors: those of the FileIO below, which are not kept.
// Source: Iceberg table spec, "Manifests" (immutable, under unique names).
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "ports/file_io.h"

namespace firn::ports {

struct FileCacheCounts {
  std::int64_t hits = 0, misses = 0, evictions = 0;
  std::int64_t files = 0, size_bytes = 0;  // now
};

class FileCache {
 public:
  using Content = std::shared_ptr<const Bytes>;

  explicit FileCache(std::int64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  bool Takes(std::uint64_t size_bytes) const;
  /// Null if it is not there.
  Content Find(const std::string& key);
  void Keep(const std::string& key, Content content);
  FileCacheCounts counts() const;

 private:
  struct Kept {
    std::string key;
    Content content;
  };
  static std::int64_t CostOf(const Kept& kept);

  const std::int64_t capacity_bytes_;
  mutable std::mutex mutex_;
  std::list<Kept> kept_;  // the last used first
  std::unordered_map<std::string, std::list<Kept>::iterator> by_key_;
  FileCacheCounts counts_;
};

/// Borrows both. `scope`: whose files they are; two catalogs may mean different storages by one location.
std::unique_ptr<FileIO> MakeCached(FileIO& below, FileCache& cache, std::string scope);

}  // namespace firn::ports
