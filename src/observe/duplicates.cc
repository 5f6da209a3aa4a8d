// SPDX-License-Identifier: Apache-2.0
#include "observe/duplicates.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "observe/resolve.h"

namespace firn::observe {

void LivePaths::Add(std::string_view path, std::uint32_t manifest, std::uint32_t ordinal) {
  const std::lock_guard lock(mutex_);
  places_.push_back({std::hash<std::string_view>()(path), manifest, ordinal});
}

Status LivePaths::Check(ports::FileIO& io, const iceberg::TableMetadata& metadata, const Facts& facts) {
  std::ranges::sort(places_, [](const Place& a, const Place& b) {
    return std::tie(a.hash, a.manifest, a.ordinal) < std::tie(b.hash, b.manifest, b.ordinal);
  });
  for (auto at = places_.begin(); at != places_.end();) {
    const auto end = std::find_if(at, places_.end(), [&](const Place& place) { return place.hash != at->hash; });
    if (end - at > 1) {
      std::vector<EntryPlace> wanted;
      for (auto place = at; place != end; ++place) wanted.push_back({place->manifest, place->ordinal});
      FIRN_ASSIGN(const auto entries, ReadEntries(facts, wanted, io, metadata, iceberg::Wanted::planning()));
      for (std::size_t i = 0; i < entries.size(); ++i) {
        for (std::size_t j = 0; j < i; ++j) {
          if (entries[i].file.file_path != entries[j].file.file_path) continue;
          return Error{Code::kCorrupt, entries[i].file.file_path + " is live twice: entry " +
                                           std::to_string(wanted[j].ordinal) + " of " +
                                           facts.manifests[wanted[j].manifest].file.manifest_path + " and entry " +
                                           std::to_string(wanted[i].ordinal) + " of " +
                                           facts.manifests[wanted[i].manifest].file.manifest_path};
        }
      }
    }
    at = end;
  }
  return Ok();
}

}  // namespace firn::observe
