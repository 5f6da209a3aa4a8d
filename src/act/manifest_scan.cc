// SPDX-License-Identifier: Apache-2.0
#include "act/manifest_scan.h"

#include <memory>
#include <utility>

namespace firn::act {
namespace {

using iceberg::EntryStatus;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;

/// The line that a manifest list would have for a manifest that a v1 snapshot names inline.
Result<ManifestFile> InlineLine(ports::FileIO& io, const std::string& location, const iceberg::Snapshot& snapshot,
                                const iceberg::TableMetadata& metadata) {
  ManifestFile line;
  line.manifest_path = location;
  line.added_snapshot_id = snapshot.id;
  FIRN_ASSIGN(const std::unique_ptr<RandomAccessSource> source, io.Open(location));
  line.manifest_length = static_cast<std::int64_t>(source->size());
  SourceStream stream(*source);
  FIRN_ASSIGN(const auto reader, iceberg::ManifestReader::Open(stream, line, metadata, iceberg::Wanted::planning()));
  line.spec_id = reader->header().spec_id.value_or(SpecId(0));
  return line;
}

}  // namespace

Result<std::vector<ManifestFile>> ReadManifests(ports::FileIO& io, const iceberg::Snapshot& snapshot,
                                                const iceberg::TableMetadata& metadata) {
  if (snapshot.manifest_list.empty()) {
    std::vector<ManifestFile> lines;
    for (const std::string& location : snapshot.manifests) {
      FIRN_ASSIGN(lines.emplace_back(), InlineLine(io, location, snapshot, metadata));
    }
    return lines;
  }
  FIRN_ASSIGN(const std::unique_ptr<RandomAccessSource> source, io.Open(snapshot.manifest_list));
  SourceStream stream(*source);
  return iceberg::ReadManifestList(stream, snapshot, metadata);
}

Status ForEachEntry(ports::FileIO& io, const ManifestFile& manifest, const iceberg::TableMetadata& metadata,
                    iceberg::Wanted wanted, const std::function<Status(ManifestEntry&)>& visit) {
  FIRN_ASSIGN(const std::unique_ptr<RandomAccessSource> source,
              io.Open(manifest.manifest_path, static_cast<std::uint64_t>(manifest.manifest_length)));
  SourceStream stream(*source);
  FIRN_ASSIGN(const auto reader, iceberg::ManifestReader::Open(stream, manifest, metadata, wanted));
  ManifestEntry entry;
  while (true) {
    FIRN_ASSIGN(const bool more, reader->Next(entry));
    if (!more) return Ok();
    FIRN_TRY(visit(entry));
  }
}

Status CompleteCounts(ports::FileIO& io, const iceberg::TableMetadata& metadata, ManifestFile& line) {
  if (line.added_files_count && line.existing_files_count && line.deleted_files_count && line.added_rows_count &&
      line.existing_rows_count && line.deleted_rows_count) {
    return Ok();
  }
  std::int32_t files[3] = {};
  std::int64_t rows[3] = {};
  FIRN_TRY(ForEachEntry(io, line, metadata, iceberg::Wanted::planning(), [&](ManifestEntry& entry) -> Status {
    const auto status = static_cast<std::size_t>(entry.status);
    ++files[status];
    rows[status] += entry.file.record_count;
    return Ok();
  }));
  constexpr auto kExisting = static_cast<std::size_t>(EntryStatus::kExisting);
  constexpr auto kAdded = static_cast<std::size_t>(EntryStatus::kAdded);
  constexpr auto kDeleted = static_cast<std::size_t>(EntryStatus::kDeleted);
  line.existing_files_count = files[kExisting];
  line.added_files_count = files[kAdded];
  line.deleted_files_count = files[kDeleted];
  line.existing_rows_count = rows[kExisting];
  line.added_rows_count = rows[kAdded];
  line.deleted_rows_count = rows[kDeleted];
  return Ok();
}

}  // namespace firn::act
