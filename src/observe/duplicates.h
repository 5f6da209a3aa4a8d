// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether a path is live twice in a snapshot.
//
// In: paths of live files with their places. Out: an error that names the path and both places.
// Guarantees: no false alarm: paths with equal hashes are read again and compared.
// Cost: 16 bytes a file; a sort.
// Threads: Add may be called from several threads; Check comes after all of them.
// Errors: kCorrupt for a path that is live twice; those of reading.
// Source: Iceberg table spec, "Scan Planning" (paths appear at most once).
#pragma once

#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "iceberg/metadata.h"
#include "observe/facts.h"
#include "ports/file_io.h"

namespace firn::observe {

class LivePaths {
 public:
  void Add(std::string_view path, std::uint32_t manifest, std::uint32_t ordinal);
  Status Check(ports::FileIO& io, const iceberg::TableMetadata& metadata, const Facts& facts);

 private:
  struct Place {
    std::uint64_t hash;
    std::uint32_t manifest, ordinal;
  };
  std::mutex mutex_;
  std::vector<Place> places_;
};

}  // namespace firn::observe
