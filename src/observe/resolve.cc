// SPDX-License-Identifier: Apache-2.0
#include "observe/resolve.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "observe/manifest_scan.h"

namespace firn::observe {

Result<std::vector<iceberg::ManifestEntry>> ReadEntries(const Facts& facts, std::span<const EntryPlace> places,
                                                        ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                                        iceberg::Wanted wanted) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(places[a].manifest, places[a].ordinal) < std::tie(places[b].manifest, places[b].ordinal);
  });
  std::vector<iceberg::ManifestEntry> entries(places.size());
  for (std::size_t next = 0; next < order.size();) {
    const std::uint32_t manifest = places[order[next]].manifest;
    if (manifest >= facts.manifests.size()) {
      return Error{Code::kInvalidArgument, "there is no manifest " + std::to_string(manifest)};
    }
    const auto is_open = [&] { return next < order.size() && places[order[next]].manifest == manifest; };
    const iceberg::ManifestFile& line = facts.manifests[manifest].file;
    FIRN_TRY(ForEachEntry(io, line, metadata, wanted,
                          [&](iceberg::ManifestEntry& entry, std::int64_t ordinal) -> Result<bool> {
                            for (; is_open() && places[order[next]].ordinal == ordinal; ++next) {
                              entries[order[next]] = entry;
                            }
                            return is_open();
                          }));
    if (is_open()) return BadEntry(line, places[order[next]].ordinal, "the manifest ends before it");
  }
  return entries;
}

Result<std::vector<iceberg::ManifestEntry>> ResolveFiles(const Facts& facts, std::span<const std::uint32_t> indexes,
                                                         ports::FileIO& io, const iceberg::TableMetadata& metadata) {
  std::vector<EntryPlace> places;
  places.reserve(indexes.size());
  for (const std::uint32_t index : indexes) {
    if (index >= facts.files.size()) {
      return Error{Code::kInvalidArgument, facts.table + ": there is no file " + std::to_string(index)};
    }
    places.push_back({facts.files[index].manifest, facts.files[index].ordinal});
  }
  FIRN_ASSIGN(std::vector<iceberg::ManifestEntry> entries,
              ReadEntries(facts, places, io, metadata, iceberg::Wanted::everything()));
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    const DataFileFacts& own = facts.files[indexes[i]];
    const iceberg::ManifestEntry& entry = entries[i];
    if (entry.status == iceberg::EntryStatus::kDeleted || entry.file.file_size_bytes != own.size_bytes ||
        entry.file.record_count != own.record_count || !entry.sequence_number ||
        entry.sequence_number->value != own.data_sequence_number) {
      return BadEntry(facts.manifests[own.manifest].file, own.ordinal, "not the file that was observed");
    }
  }
  return entries;
}

}  // namespace firn::observe
