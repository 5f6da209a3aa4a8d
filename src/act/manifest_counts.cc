// SPDX-License-Identifier: Apache-2.0
#include "act/manifest_counts.h"

#include "observe/manifest_scan.h"

namespace firn::act {

Status CompleteCounts(ports::FileIO& io, const iceberg::TableMetadata& metadata, iceberg::ManifestFile& line) {
  if (line.added_files_count && line.existing_files_count && line.deleted_files_count && line.added_rows_count &&
      line.existing_rows_count && line.deleted_rows_count) {
    return Ok();
  }
  std::int32_t files[3] = {};
  std::int64_t rows[3] = {};
  const auto count = [&](iceberg::ManifestEntry& entry, std::int64_t) -> Result<bool> {
    const auto status = static_cast<std::size_t>(entry.status);
    ++files[status];
    rows[status] += entry.file.record_count;
    return true;
  };
  FIRN_TRY(observe::ForEachEntry(io, line, metadata, iceberg::Wanted::planning(), count));
  constexpr auto kExisting = static_cast<std::size_t>(iceberg::EntryStatus::kExisting);
  constexpr auto kAdded = static_cast<std::size_t>(iceberg::EntryStatus::kAdded);
  constexpr auto kDeleted = static_cast<std::size_t>(iceberg::EntryStatus::kDeleted);
  line.existing_files_count = files[kExisting];
  line.added_files_count = files[kAdded];
  line.deleted_files_count = files[kDeleted];
  line.existing_rows_count = rows[kExisting];
  line.added_rows_count = rows[kAdded];
  line.deleted_rows_count = rows[kDeleted];
  return Ok();
}

}  // namespace firn::act
