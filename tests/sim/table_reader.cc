// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "iceberg/deletion_vector.h"
#include "observe/manifest_scan.h"
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

bool IsVector(const DataFile& file) { return file.format == iceberg::FileFormat::kPuffin; }

/// The scope rules of scan planning, but that a vector hides position deletes.
bool AppliesTo(const LiveDelete& deletes, const LiveFile& data) {
  if (deletes.file.referenced_data_file && *deletes.file.referenced_data_file != data.file.file_path) return false;
  if (!iceberg::SameTuple(deletes.file.partition, data.file.partition)) return false;
  if (deletes.file.content == FileContent::kEqualityDeletes) return data.sequence_number < deletes.sequence_number;
  return data.sequence_number <= deletes.sequence_number;
}

/// Fills `data.visible` and `data.deletes`.
Status Apply(const std::vector<LiveDelete>& deletes, LiveFile& data) {
  std::vector<const LiveDelete*> applying;
  for (const LiveDelete& candidate : deletes) {
    if (AppliesTo(candidate, data)) applying.push_back(&candidate);
  }
  const auto vectors =
      std::ranges::count_if(applying, [](const LiveDelete* candidate) { return IsVector(candidate->file); });
  if (vectors > 1) return Error{Code::kCorrupt, data.file.file_path + " has several deletion vectors"};
  if (vectors == 1) {
    std::erase_if(applying, [](const LiveDelete* candidate) {
      return candidate->file.content == FileContent::kPositionDeletes && !IsVector(candidate->file);
    });
  }
  for (const LiveDelete* candidate : applying) data.deletes.push_back(iceberg::IdentityOf(candidate->file));
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    const Position position(data.file.file_path, static_cast<std::int64_t>(i));
    data.visible.push_back(std::ranges::none_of(applying, [&](const LiveDelete* candidate) {
      return std::ranges::count(candidate->ids, data.rows[i].id) > 0 ||
             std::ranges::count(candidate->positions, position) > 0;
    }));
  }
  return Ok();
}

Status ReadVector(const Bytes& bytes, LiveDelete& vector) {
  const auto offset = static_cast<std::size_t>(*vector.file.content_offset);
  const auto size = static_cast<std::size_t>(*vector.file.content_size_bytes);
  FIRN_ASSIGN(const auto positions, iceberg::DecodeDeletionVector(ByteView(bytes).subspan(offset, size)));
  if (positions.cardinality() != vector.file.record_count) return Error{Code::kCorrupt, "cardinality of a vector"};
  for (const std::int64_t position : positions.ToVector()) {
    vector.positions.emplace_back(*vector.file.referenced_data_file, position);
  }
  return Ok();
}

Result<LiveDelete> ReadDelete(ports::FileIO& io, const DataFile& file, std::int64_t sequence_number) {
  FIRN_ASSIGN(const Bytes bytes, ports::ReadFile(io, file.file_path, kFileBytesMax));
  LiveDelete live{file, sequence_number, {}, {}};
  if (file.content == FileContent::kEqualityDeletes) {
    FIRN_ASSIGN(live.ids, ReadIds(bytes));
  } else if (IsVector(file)) {
    FIRN_TRY(ReadVector(bytes, live));
  } else {
    FIRN_ASSIGN(live.positions, ReadPositions(bytes));
  }
  return live;
}

}  // namespace

Result<Contents> SimTable::List(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot) {
  Contents contents;
  FIRN_ASSIGN(const std::vector<ManifestFile> manifests, observe::ReadManifests(io_, snapshot, metadata));
  for (const ManifestFile& manifest : manifests) {
    const auto add = [&](ManifestEntry& entry, std::int64_t) -> Result<bool> {
      if (entry.status == EntryStatus::kDeleted) return true;
      const LiveFile live{entry.file,
                          manifest.manifest_path,
                          entry.sequence_number.value_or(SequenceNumber(0)).value,
                          entry.file_sequence_number.value_or(SequenceNumber(0)).value,
                          {},
                          {},
                          {}};
      if (entry.file.content != FileContent::kData) {
        contents.deletes.push_back(live);
        return true;
      }
      if (contents.files.emplace(entry.file.file_path, live).second) return true;
      return Error{Code::kCorrupt, entry.file.file_path + " is live twice"};
    };
    FIRN_TRY(observe::ForEachEntry(io_, manifest, metadata, iceberg::Wanted::everything(), add));
  }
  return contents;
}

Result<Contents> SimTable::Read(const iceberg::TableMetadata& metadata, const iceberg::Snapshot& snapshot) {
  FIRN_ASSIGN(Contents contents, List(metadata, snapshot));
  std::vector<LiveDelete> deletes;
  for (const LiveFile& live : contents.deletes) {
    FIRN_ASSIGN(deletes.emplace_back(), ReadDelete(io_, live.file, live.sequence_number));
  }
  for (auto& [path, live] : contents.files) {
    FIRN_ASSIGN(const Bytes bytes, ports::ReadFile(io_, path, kFileBytesMax));
    if (static_cast<std::int64_t>(bytes.size()) != live.file.file_size_bytes) {
      return Error{Code::kCorrupt, path + " has another size"};
    }
    FIRN_ASSIGN(live.rows, ReadRows(bytes));
    if (static_cast<std::int64_t>(live.rows.size()) != live.file.record_count) {
      return Error{Code::kCorrupt, path + " has another number of rows"};
    }
    for (std::size_t i = 0; i < live.rows.size(); ++i) {
      if (live.rows[i].part != std::get<std::int32_t>(live.file.partition.values.at(0))) {
        return Error{Code::kCorrupt, path + " has a row of another partition"};
      }
    }
    FIRN_TRY(Apply(deletes, live));
    for (std::size_t i = 0; i < live.rows.size(); ++i) {
      if (live.visible[i]) contents.rows.push_back(live.rows[i]);
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
    FIRN_ASSIGN(const std::vector<ManifestFile> manifests, observe::ReadManifests(io_, snapshot, *table.metadata));
    for (const ManifestFile& manifest : manifests) {
      needed.insert(manifest.manifest_path);
      FIRN_ASSIGN(const Bytes bytes, ports::ReadFile(io_, manifest.manifest_path, kFileBytesMax));
      if (static_cast<std::int64_t>(bytes.size()) != manifest.manifest_length) {
        return Error{Code::kCorrupt, manifest.manifest_path + " has another length than its list says"};
      }
      FIRN_TRY(observe::ForEachEntry(io_, manifest, *table.metadata, iceberg::Wanted::planning(),
                                     [&](ManifestEntry& entry, std::int64_t) -> Result<bool> {
                                       if (entry.status != EntryStatus::kDeleted) needed.insert(entry.file.file_path);
                                       return true;
                                     }));
    }
  }
  return needed;
}

}  // namespace firn::sim
