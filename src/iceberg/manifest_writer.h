// SPDX-License-Identifier: Apache-2.0
//
// Writes manifests and manifest lists as Iceberg's Java implementation writes them.
//
// In: entries with their final status and numbers. Out: Avro bytes into a sink, and the line for the list.
// Guarantees: record names, field ids, element, key and value ids, logical types and header keys are those that
//   Java expects; counts, row counts, min_sequence_number and partition summaries are computed from what was
//   written; all entries must be of one spec and one content.
// Cost: O(entries); memory one Avro block.
// Errors: kInternal when an entry breaks a rule (the committer's fault), the sink's errors.
// Threads: one writer a thread.
// Source: Iceberg table spec, "Manifests", "Manifest Lists", Appendix A "Avro".
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_io.h"
#include "iceberg/manifest.h"
#include "iceberg/metadata.h"

namespace firn::iceberg {

struct ManifestWriterOptions {
  std::int32_t format_version = 2;
  SpecId spec_id{0};
  ManifestContent content = ManifestContent::kData;
  /// The snapshot that will add the manifest.
  SnapshotId snapshot_id{0};
  /// "deflate" (Java: gzip), "zstd", "null", "snappy"; from write.avro.compression-codec.
  std::string codec = "deflate";
};

class ManifestWriter {
 public:
  /// `metadata` gives schema and spec for the header. Both outlive the writer.
  static Result<std::unique_ptr<ManifestWriter>> Make(ByteSink& sink, const TableMetadata& metadata,
                                                      ManifestWriterOptions options);
  virtual ~ManifestWriter() = default;
  /// kAdded: file_sequence_number and first_row_id must be absent; a sequence number, if there is one, is older than
  /// the commit's. kExisting and kDeleted: both numbers present (v2 and later). Added and deleted entries are written
  /// with the writer's snapshot id, existing ones with their own.
  virtual Status Add(const ManifestEntry& entry) = 0;
  virtual std::int64_t entry_count() const = 0;
  /// Ends the file. The returned line has sequence_number and, where entries inherit, min_sequence_number set to
  /// the unassigned marker -1: the manifest list writer fills in the commit's.
  virtual Result<ManifestFile> Finish() = 0;
};

/// Writes a manifest list. For v3, `first_row_id` is the table's next-row-id: data manifests without a first row id
/// get theirs from it, and the returned value is the next id after them. Lines whose sequence_number is -1 get
/// `sequence_number`.
Result<std::int64_t> WriteManifestList(ByteSink& sink, const TableMetadata& metadata, SnapshotId snapshot_id,
                                       std::optional<SnapshotId> parent_id, SequenceNumber sequence_number,
                                       std::int64_t first_row_id, const std::string& codec,
                                       std::vector<ManifestFile>& manifests);

}  // namespace firn::iceberg
