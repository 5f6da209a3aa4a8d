// SPDX-License-Identifier: Apache-2.0
#include "ports/pointer_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/ascii.h"
#include "base/log.h"
#include "ports/location.h"
#include "ports/metadata_file.h"
#include "ports/table_identity.h"

namespace firn::ports {

bool IsIcebergType(std::string_view table_type) { return AsciiLower(table_type) == "iceberg"; }

Result<std::string> PointerOfEntry(const TableIdentifier& id, std::string_view server, const std::string& table_type,
                                   std::string metadata_location) {
  if (!IsIcebergType(table_type)) {
    return Error{Code::kUnsupported, fmt::format("{}: no Iceberg table: {}'s parameter table_type is \"{}\"",
                                                 ToString(id), server, table_type)};
  }
  if (metadata_location.empty()) {
    return Error{Code::kCorrupt, fmt::format("{}: {} has no metadata_location for it", ToString(id), server)};
  }
  return metadata_location;
}

std::string PointerCatalog::NewUuid() {
  const std::lock_guard lock(random_mutex_);
  return random_.NewUuid();
}

Result<LoadedTable> PointerCatalog::LoadTable(const TableIdentifier& id) {
  FIRN_ASSIGN(std::string location, ReadPointer(id));
  auto metadata = ReadMetadataFile(*io_, location);
  if (!metadata) {
    // The table is there: kNotFound would say that it was dropped.
    if (metadata.error().code == Code::kNotFound) metadata.error().code = Code::kCorrupt;
    return std::move(metadata.error()).In(ToString(id));
  }
  return LoadedTable{id, std::move(location), std::move(*metadata), {}};
}

Result<LoadedTable> PointerCatalog::CommitTable(const LoadedTable& base, const TableCommit& commit) {
  const std::string table = ToString(base.id);
  if (Status held = iceberg::CheckRequirements(*base.metadata, commit.requirements); !held) {
    return std::move(held.error()).In(table);
  }
  auto updated = iceberg::ApplyUpdates(*base.metadata, base.metadata_location, commit.updates, clock_.Now());
  if (!updated) return std::move(updated.error()).In(table);
  std::string uuid = NewUuid();
  if (commit.run.size() < uuid.size()) uuid.replace(0, commit.run.size(), commit.run);
  FIRN_ASSIGN(const std::string location, NextMetadataLocation(*updated, base.metadata_location, uuid));
  FIRN_ASSIGN(const MetadataCodec codec, CodecOf(*updated));
  FIRN_ASSIGN(const Bytes bytes, EncodeMetadata(*updated, codec));
  if (Status written = WriteNewFile(location, bytes); !written) return std::move(written.error()).In(table);

  Status swapped = SwapPointer({base.id, base.metadata_location, location, *base.metadata, *updated});
  if (!swapped && swapped.error().code == Code::kOutcomeUnknown) return std::move(swapped.error()).In(table);
  if (!swapped) {
    if (Status removed = io_->Delete(location); !removed) {
      Log(LogLevel::kWarn,
          fmt::format("{}: {}: metadata file of a refused commit stays: {}", table, location, removed.error().message));
    }
    if (swapped.error().code == Code::kConflict) return Explain(std::move(swapped.error()), base);
    return std::move(swapped.error()).In(table);
  }
  RemoveOldFiles(*base.metadata, *updated);
  return LoadedTable{base.id, location, std::make_shared<const iceberg::TableMetadata>(std::move(*updated)),
                     base.config};
}

Status PointerCatalog::DecideByLog(const std::string& location, const std::string& from, const std::string& to,
                                   Error fault) {
  const auto current = ReadMetadataFile(*io_, location);
  if (!current) return fault;
  // Others may have committed on top of ours: then ours is in the log of older files.
  const auto& log = (*current)->metadata_log();
  if (std::ranges::find(log, to) != log.end()) return Ok();
  if (std::ranges::find(log, from) == log.end()) return fault;  // the log is too short to prove anything
  return Error{Code::kConflict, "another commit came first"};
}

Status PointerCatalog::WriteNewFile(const std::string& location, ByteView bytes) {
  Status written = WriteFile(*io_, location, bytes);
  if (written) return Ok();
  // Nothing points to the file, so whatever became of it, the commit did not happen.
  Error& error = written.error();
  bool is_ours = error.code != Code::kConflict;
  if (!is_ours) {
    // NFS may say of a link that it repeats that the name is taken: what has our bytes below a new uuid is ours.
    const auto found = ReadFile(*io_, location, kMetadataBytesMax);
    is_ours = found && std::ranges::equal(*found, bytes);
  }
  if (is_ours) {
    if (Status removed = io_->Delete(location); !removed) error.message += " (and it may be left behind)";
  }
  if (error.code == Code::kConflict) error.code = Code::kUnavailable;
  return std::move(error);
}

Error PointerCatalog::Explain(Error conflict, const LoadedTable& base) {
  const std::string table = ToString(base.id);
  auto current = LoadTable(base.id);
  if (current) {
    if (auto replaced = CheckSameTable(*base.metadata, *current->metadata); !replaced) {
      return std::move(replaced.error()).In(table);
    }
  } else if (current.error().code == Code::kNotFound) {
    return Error{Code::kNotFound, fmt::format("{}: the table was dropped meanwhile", table)};
  }
  return std::move(conflict).In(table);
}

void PointerCatalog::RemoveOldFiles(const iceberg::TableMetadata& base, const iceberg::TableMetadata& updated) {
  if (updated.Property("write.metadata.delete-after-commit.enabled", "false") != "true") return;
  const auto& kept = updated.metadata_log();
  const std::unordered_set<std::string> keep(kept.begin(), kept.end());
  const std::string folder = MetadataFolder(base);
  for (const std::string& location : base.metadata_log()) {
    if (keep.contains(location)) continue;
    // Whoever can write the table's metadata must not be able to have any other file deleted.
    if (!IsMetadataFileName(location) || !SamePlace(ParentOf(location), folder)) {
      Log(LogLevel::kWarn, fmt::format("{}: not removed: it is no metadata file in {}", location, folder));
      continue;
    }
    if (Status removed = io_->Delete(location); !removed) {
      Log(LogLevel::kWarn, fmt::format("{}: old metadata file not removed: {}", location, removed.error().message));
    }
  }
}

}  // namespace firn::ports
