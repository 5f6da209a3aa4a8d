// SPDX-License-Identifier: Apache-2.0
#include "observe/manifest_scan.h"

#include <algorithm>

#include "base/parallel.h"

namespace firn::observe {
namespace {

using iceberg::ManifestFile;

/// How many of some manifests to read at a time. Their readers wait for storage most of the time, so there are more of
/// them than threads, as long as their buffers are small together; but one thread stays one.
int ReadersOf(int threads, std::int64_t largest_bytes) {
  constexpr std::int64_t kTogetherBytes = 32 << 20, kReadersMax = 32, kReadersOfThread = 8;
  if (threads <= 1) return 1;
  const std::int64_t fit = kTogetherBytes / std::max<std::int64_t>(largest_bytes, 1);
  const std::int64_t wanted = std::min({kReadersMax, kReadersOfThread * threads, fit});
  return static_cast<int>(std::max<std::int64_t>(threads, wanted));
}

Result<ManifestFile> InlineLine(ports::FileIO& io, const std::string& location, const iceberg::Snapshot& snapshot,
                                const iceberg::TableMetadata& metadata) {
  ManifestFile line;
  line.manifest_path = location;
  line.added_snapshot_id = snapshot.id;
  FIRN_ASSIGN(const auto source, io.Open(location));
  line.manifest_length = static_cast<std::int64_t>(source->size());
  SourceStream stream(*source);
  FIRN_ASSIGN(const iceberg::ManifestHeader header, iceberg::ReadManifestHeader(stream));
  line.spec_id = header.spec_id.value_or(SpecId(0));
  if (metadata.FindSpec(line.spec_id) == nullptr) {
    return Error{Code::kCorrupt, location + ": manifest is of spec " + std::to_string(line.spec_id.value) +
                                     ", which the table does not have"};
  }
  return line;
}

}  // namespace

Result<std::vector<ManifestFile>> ReadManifests(ports::FileIO& io, const iceberg::Snapshot& snapshot,
                                                const iceberg::TableMetadata& metadata) {
  std::vector<ManifestFile> lines;
  if (!snapshot.manifest_list.empty()) {
    FIRN_ASSIGN(const auto source, io.Open(snapshot.manifest_list));
    SourceStream stream(*source);
    return iceberg::ReadManifestList(stream, snapshot, metadata);
  }
  for (const std::string& location : snapshot.manifests) {
    FIRN_ASSIGN(ManifestFile line, InlineLine(io, location, snapshot, metadata));
    lines.push_back(std::move(line));
  }
  return lines;
}

Status ForEachEntry(ports::FileIO& io, const ManifestFile& manifest, const iceberg::TableMetadata& metadata,
                    iceberg::Wanted wanted,
                    const std::function<Result<bool>(iceberg::ManifestEntry&, std::int64_t)>& visit) {
  std::optional<std::uint64_t> known_size;
  if (manifest.manifest_length > 0) known_size = static_cast<std::uint64_t>(manifest.manifest_length);
  FIRN_ASSIGN(const auto source, io.Open(manifest.manifest_path, known_size));
  SourceStream stream(*source);
  FIRN_ASSIGN(const auto reader, iceberg::ManifestReader::Open(stream, manifest, metadata, wanted));
  iceberg::ManifestEntry entry;
  while (true) {
    FIRN_ASSIGN(const bool more, reader->Next(entry));
    if (!more) return Ok();
    FIRN_ASSIGN(const bool go_on, visit(entry, reader->ordinal()));
    if (!go_on) return Ok();
  }
}

Status ForEachManifest(std::size_t count, int threads,
                       const std::function<const iceberg::ManifestFile&(std::size_t)>& manifest,
                       const std::function<Status(std::size_t)>& run) {
  std::int64_t largest_bytes = 0;
  for (std::size_t i = 0; i < count; ++i) largest_bytes = std::max(largest_bytes, manifest(i).manifest_length);
  return ForEachIndex(count, ReadersOf(threads, largest_bytes), run);
}

Error BadEntry(const ManifestFile& manifest, std::int64_t ordinal, std::string_view text) {
  return {Code::kCorrupt, manifest.manifest_path + ": entry " + std::to_string(ordinal) + ": " + std::string(text)};
}

}  // namespace firn::observe
