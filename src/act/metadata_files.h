// SPDX-License-Identifier: Apache-2.0
//
// Creates the manifests, manifest lists and delete files of one commit and remembers their names.
//
// In: the table's metadata (where its metadata files go). Out: open files with names nobody else uses.
// Guarantees: every file that was created is in created(), also when writing it failed later.
// Errors: those of FileIO.
// Threads: one owner.
// Source: Iceberg table spec, Appendix F "Path Construction"; names as Java's SnapshotProducer forms them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "act/data_location.h"
#include "base/ids.h"
#include "iceberg/manifest.h"
#include "iceberg/manifest_writer.h"
#include "iceberg/metadata.h"
#include "ports/file_io.h"

namespace firn::act {

class MetadataFiles {
 public:
  /// `commit_uuid` makes the names unique.
  MetadataFiles(ports::FileIO& io, std::string commit_uuid) : io_(io), commit_uuid_(std::move(commit_uuid)) {}

  ports::FileIO& io() const { return io_; }
  Result<std::unique_ptr<ports::OutputFile>> NewManifest(const iceberg::TableMetadata& metadata);
  Result<std::unique_ptr<ports::OutputFile>> NewManifestList(const iceberg::TableMetadata& metadata,
                                                             SnapshotId snapshot_id, int attempt);
  /// A file with deletes for the data files of a partition ("" for several); `ending`: ".parquet", ".puffin".
  Result<std::unique_ptr<ports::OutputFile>> NewDeleteFile(const DataLocations& locations,
                                                           const std::string& partition_path,
                                                           const std::string& ending);
  const std::vector<std::string>& created() const { return created_; }

 private:
  Result<std::unique_ptr<ports::OutputFile>> Create(std::string location);

  ports::FileIO& io_;
  std::string commit_uuid_;
  int manifest_count_ = 0;
  int delete_file_count_ = 0;
  std::vector<std::string> created_;
};

/// Writes entries of one spec and one content into as many manifests as the target size asks for.
class RollingManifestWriter {
 public:
  /// `files` and `metadata` outlive the writer. No file is created before the first entry.
  RollingManifestWriter(MetadataFiles& files, const iceberg::TableMetadata& metadata,
                        iceberg::ManifestWriterOptions options, std::int64_t target_size_bytes)
      : files_(files), metadata_(metadata), options_(std::move(options)), target_size_bytes_(target_size_bytes) {}

  Status Add(const iceberg::ManifestEntry& entry);
  /// Ends the last manifest and returns the lines of all.
  Result<std::vector<iceberg::ManifestFile>> Finish();

 private:
  Status CloseCurrent();

  MetadataFiles& files_;
  const iceberg::TableMetadata& metadata_;
  iceberg::ManifestWriterOptions options_;
  std::int64_t target_size_bytes_;
  std::string location_;
  std::unique_ptr<ports::OutputFile> file_;
  std::unique_ptr<iceberg::ManifestWriter> writer_;
  std::vector<iceberg::ManifestFile> finished_;
};

}  // namespace firn::act
