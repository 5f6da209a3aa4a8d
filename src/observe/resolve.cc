// SPDX-License-Identifier: Apache-2.0
#include "observe/resolve.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/parallel.h"
#include "observe/manifest_scan.h"

namespace firn::observe {

namespace {

/// Gives the entries at `places` to `visit`, manifest by manifest.
Status Visit(const Facts& facts, std::span<const EntryPlace> places, ports::FileIO& io,
             const iceberg::TableMetadata& metadata, iceberg::Wanted wanted, int threads, const EntryVisitor& visit) {
  std::vector<std::size_t> order(places.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return std::tie(places[a].manifest, places[a].ordinal) < std::tie(places[b].manifest, places[b].ordinal);
  });
  std::vector<std::size_t> begins;  // of each manifest, in `order`
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::uint32_t manifest = places[order[i]].manifest;
    if (manifest >= facts.manifests.size()) {
      return Error{Code::kInvalidArgument, "there is no manifest " + std::to_string(manifest)};
    }
    if (i == 0 || places[order[i - 1]].manifest != manifest) begins.push_back(i);
  }
  begins.push_back(order.size());
  return ForEachIndex(begins.size() - 1, threads, [&](std::size_t m) -> Status {
    std::size_t next = begins[m];
    const auto is_open = [&] { return next < begins[m + 1]; };
    const iceberg::ManifestFile& line = facts.manifests[places[order[next]].manifest].file;
    const auto take = [&](iceberg::ManifestEntry& entry, std::int64_t ordinal) -> Result<bool> {
      for (; is_open() && places[order[next]].ordinal == ordinal; ++next) FIRN_TRY(visit(order[next], entry));
      return is_open();
    };
    FIRN_TRY(ForEachEntry(io, line, metadata, wanted, take));
    if (is_open()) return BadEntry(line, places[order[next]].ordinal, "the manifest ends before it");
    return Ok();
  });
}

}  // namespace

Result<std::vector<iceberg::ManifestEntry>> ReadEntries(const Facts& facts, std::span<const EntryPlace> places,
                                                        ports::FileIO& io, const iceberg::TableMetadata& metadata,
                                                        iceberg::Wanted wanted) {
  std::vector<iceberg::ManifestEntry> entries(places.size());
  FIRN_TRY(Visit(facts, places, io, metadata, wanted, 1,
                 [&](std::size_t place, const iceberg::ManifestEntry& entry) -> Status {
                   entries[place] = entry;
                   return Ok();
                 }));
  return entries;
}

Status ForEachFile(const Facts& facts, std::span<const std::uint32_t> indexes, ports::FileIO& io,
                   const iceberg::TableMetadata& metadata, iceberg::Wanted wanted, const EntryVisitor& visit,
                   int threads) {
  std::vector<EntryPlace> places;
  places.reserve(indexes.size());
  for (const std::uint32_t index : indexes) {
    if (index >= facts.files.size()) {
      return Error{Code::kInvalidArgument, facts.table + ": there is no file " + std::to_string(index)};
    }
    places.push_back({facts.files[index].manifest, facts.files[index].ordinal});
  }
  return Visit(facts, places, io, metadata, wanted, threads,
               [&](std::size_t place, const iceberg::ManifestEntry& entry) -> Status {
                 const DataFileFacts& own = facts.files[indexes[place]];
                 if (entry.status == iceberg::EntryStatus::kDeleted || entry.file.file_size_bytes != own.size_bytes ||
                     entry.file.record_count != own.record_count || !entry.sequence_number ||
                     entry.sequence_number->value != own.data_sequence_number) {
                   return BadEntry(facts.manifests[own.manifest].file, own.ordinal, "not the file that was observed");
                 }
                 return visit(place, entry);
               });
}

}  // namespace firn::observe
