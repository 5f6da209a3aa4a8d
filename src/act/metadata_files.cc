// SPDX-License-Identifier: Apache-2.0
#include "act/metadata_files.h"

#include <fmt/format.h>

#include <utility>

#include "ports/metadata_file.h"

namespace firn::act {

Result<std::unique_ptr<ports::OutputFile>> MetadataFiles::Create(std::string location) {
  FIRN_ASSIGN(auto file, io_.Create(location));
  created_.push_back(std::move(location));
  return file;
}

Result<std::unique_ptr<ports::OutputFile>> MetadataFiles::NewManifest(const iceberg::TableMetadata& metadata) {
  return Create(fmt::format("{}/{}-m{}.avro", ports::MetadataFolder(metadata), commit_uuid_, manifest_count_++));
}

Result<std::unique_ptr<ports::OutputFile>> MetadataFiles::NewManifestList(const iceberg::TableMetadata& metadata,
                                                                          SnapshotId snapshot_id, int attempt) {
  return Create(
      fmt::format("{}/snap-{}-{}-{}.avro", ports::MetadataFolder(metadata), snapshot_id.value, attempt, commit_uuid_));
}

Result<std::unique_ptr<ports::OutputFile>> MetadataFiles::NewDeleteFile(const DataLocations& locations,
                                                                        const std::string& partition_path,
                                                                        const std::string& ending) {
  const std::string name = fmt::format("00000-0-{}-{:05}-deletes{}", commit_uuid_, ++delete_file_count_, ending);
  return Create(locations.NewLocation(partition_path, name));
}

Status RollingManifestWriter::Add(const iceberg::ManifestEntry& entry) {
  if (writer_ != nullptr && static_cast<std::int64_t>(file_->position()) >= target_size_bytes_) {
    FIRN_TRY(CloseCurrent());
  }
  if (writer_ == nullptr) {
    FIRN_ASSIGN(file_, files_.NewManifest(metadata_));
    location_ = files_.created().back();
    FIRN_ASSIGN(writer_, iceberg::ManifestWriter::Make(*file_, metadata_, options_));
  }
  return writer_->Add(entry);
}

Status RollingManifestWriter::CloseCurrent() {
  FIRN_ASSIGN(iceberg::ManifestFile line, writer_->Finish());
  line.manifest_path = location_;
  line.manifest_length = static_cast<std::int64_t>(file_->position());
  FIRN_TRY(file_->Close());
  finished_.push_back(std::move(line));
  writer_.reset();
  file_.reset();
  return Ok();
}

Result<std::vector<iceberg::ManifestFile>> RollingManifestWriter::Finish() {
  if (writer_ != nullptr) FIRN_TRY(CloseCurrent());
  return std::move(finished_);
}

}  // namespace firn::act
