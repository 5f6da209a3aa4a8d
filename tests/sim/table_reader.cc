// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "act/manifest_scan.h"
#include "sim/table_builder.h"

namespace firn::sim {
namespace {

using iceberg::DataFile;
using iceberg::EntryStatus;
using iceberg::FileContent;
using iceberg::ManifestEntry;
using iceberg::ManifestFile;

constexpr std::uint64_t kFileBytesMax = 1 << 26;

struct LiveDelete {
  DataFile file;
  std::int64_t sequence_number = 0;
  std::vector<Position> positions;
  std::vector<std::int64_t> ids;
};

/// The scope rules of scan planning.
bool AppliesTo(const LiveDelete& deletes, const LiveFile& data) {
  if (!iceberg::SameTuple(deletes.file.partition, data.file.partition)) return false;
  if (deletes.file.content == FileContent::kEqualityDeletes) return data.sequence_number < deletes.sequence_number;
  return data.sequence_number <= deletes.sequence_number;
}

std::vector<Row> WithoutDeleted(const std::vector<Row>& rows, const LiveFile& data,
                                const std::vector<LiveDelete>& deletes) {
  std::vector<Row> left;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool gone = std::ranges::any_of(deletes, [&](const LiveDelete& candidate) {
      if (!AppliesTo(candidate, data)) return false;
      if (std::ranges::find(candidate.ids, rows[i].id) != candidate.ids.end()) return true;
      return std::ranges::find(candidate.positions, Position(data.file.file_path, static_cast<std::int64_t>(i))) !=
             candidate.positions.end();
    });
    if (!gone) left.push_back(rows[i]);
  }
  return left;
}

Result<LiveDelete> ReadDelete(ports::FileIO& io, const DataFile& file, std::int64_t sequence_number) {
  FIRN_ASSIGN(const Bytes bytes, ports::ReadFile(io, file.file_path, kFileBytesMax));
  LiveDelete live{file, sequence_number, {}, {}};
  if (file.content == FileContent::kEqualityDeletes) {
    FIRN_ASSIGN(live.ids, ReadIds(bytes));
  } else {
    FIRN_ASSIGN(live.positions, ReadPositions(bytes));
  }
  return live;
}

}  // namespace

Result<Contents> SimTable::Read(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot) {
  Contents contents;
  std::vector<LiveDelete> deletes;
  FIRN_ASSIGN(const std::vector<ManifestFile> manifests, act::ReadManifests(io_, snapshot, metadata));
  for (const ManifestFile& manifest : manifests) {
    FIRN_TRY(act::ForEachEntry(
        io_, manifest, metadata, iceberg::Wanted::everything(), [&](ManifestEntry& entry) -> Status {
          if (entry.status == EntryStatus::kDeleted) return Ok();
          const std::int64_t sequence = entry.sequence_number.value_or(SequenceNumber(0)).value;
          if (entry.file.content != FileContent::kData) {
            FIRN_ASSIGN(deletes.emplace_back(), ReadDelete(io_, entry.file, sequence));
            ++contents.delete_files;
            return Ok();
          }
          const std::int64_t file_sequence = entry.file_sequence_number.value_or(SequenceNumber(0)).value;
          const auto [at, is_new] = contents.files.emplace(
              entry.file.file_path, LiveFile{entry.file, manifest.manifest_path, sequence, file_sequence});
          if (!is_new) return Error{Code::kCorrupt, entry.file.file_path + " is live twice"};
          return Ok();
        }));
  }
  for (const auto& [path, live] : contents.files) {
    FIRN_ASSIGN(const Bytes bytes, ports::ReadFile(io_, path, kFileBytesMax));
    if (static_cast<std::int64_t>(bytes.size()) != live.file.file_size_bytes) {
      return Error{Code::kCorrupt, path + " has another size"};
    }
    FIRN_ASSIGN(const std::vector<Row> rows, ReadRows(bytes));
    if (static_cast<std::int64_t>(rows.size()) != live.file.record_count) {
      return Error{Code::kCorrupt, path + " has another number of rows"};
    }
    for (const Row& row : WithoutDeleted(rows, live, deletes)) {
      if (Row{row.id, std::get<std::int32_t>(live.file.partition.values.at(0))} != row) {
        return Error{Code::kCorrupt, path + " has a row of another partition"};
      }
      contents.rows.push_back(row);
    }
  }
  std::ranges::sort(contents.rows);
  return contents;
}

Result<Contents> SimTable::ReadHead() {
  FIRN_ASSIGN(const ports::LoadedTable table, Load());
  if (table.metadata->current_snapshot() == nullptr) return Contents();
  return Read(*table.metadata, *table.metadata->current_snapshot());
}

Result<std::set<std::string>> SimTable::NeededFiles() {
  FIRN_ASSIGN(const ports::LoadedTable table, Load());
  std::set<std::string> needed{table.metadata_location};
  needed.insert(table.metadata->metadata_log().begin(), table.metadata->metadata_log().end());
  for (const iceberg::Snapshot& snapshot : table.metadata->snapshots()) {
    FIRN_TRY(Read(*table.metadata, snapshot));
    needed.insert(snapshot.manifest_list);
    FIRN_ASSIGN(const std::vector<ManifestFile> manifests, act::ReadManifests(io_, snapshot, *table.metadata));
    for (const ManifestFile& manifest : manifests) {
      needed.insert(manifest.manifest_path);
      FIRN_TRY(act::ForEachEntry(io_, manifest, *table.metadata, iceberg::Wanted::planning(),
                                 [&](ManifestEntry& entry) -> Status {
                                   if (entry.status != EntryStatus::kDeleted) needed.insert(entry.file.file_path);
                                   return Ok();
                                 }));
    }
  }
  return needed;
}

}  // namespace firn::sim
